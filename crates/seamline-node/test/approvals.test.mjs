// A repair beside an approval keeps every result, every approval, and the ids that belong together.

import assert from "node:assert/strict";
import { test } from "node:test";
import { convertToModelMessages } from "ai";
import { repairModelMessages } from "seamline/ai-sdk";

/** Tool `a` was approved and has run, `b` has run, and `c` was approved and runs next. */
const history = (text, [a, b, c] = ["a", "b", "c"]) =>
  convertToModelMessages([
    { id: "1", role: "user", parts: [{ type: "text", text: "go" }] },
    {
      id: "2",
      role: "assistant",
      parts: [
        { type: "step-start" },
        { type: "tool-wipe", toolCallId: a, state: "output-available", input: { p: 1 }, output: "WIPED", approval: { id: "ap1", approved: true } },
        { type: "tool-read", toolCallId: b, state: "output-available", input: { p: 2 }, output: text },
        { type: "step-start" },
        { type: "tool-wipe", toolCallId: c, state: "approval-responded", input: { p: 3 }, approval: { id: "ap2", approved: true } },
      ],
    },
  ]);
const shape = (messages) => messages.map(({ role, content }) => [role, ...(Array.isArray(content) ? content : []).map((part) => `${part.type} ${part.toolCallId ?? part.approvalId ?? ""}`.trim())]);

test("a clean history with approvals is the same list", async () => {
  const messages = await history("READ");
  assert.equal(repairModelMessages(messages), messages);
});

test("a half character in one result changes that result only", async () => {
  const messages = await history("READ \ud83d");
  const repaired = repairModelMessages(messages);
  const expected = structuredClone(messages);
  expected[2].content[2].output.value = "READ \ufffd";
  assert.deepEqual(repaired, expected);
  assert.equal(repaired[3], messages[3]);
});

test("ids of another provider are renamed in calls, approvals and results", async () => {
  const repaired = repairModelMessages(await history("READ", ["f.a:0", "f.b:1", "f.c:2"]), { provider: "anthropic" });
  assert.deepEqual(shape(repaired), shape(await history("READ", ["f_a_0", "f_b_1", "f_c_2"])));
  assert.ok(JSON.stringify(repaired).includes("WIPED"));
});

test("an id that waits for an approval does not hide an earlier call of the same id", async () => {
  const call = (more = []) => ({ role: "assistant", content: [{ type: "tool-call", toolCallId: "f.a", toolName: "wipe", input: {} }, ...more] });
  const result = { role: "tool", content: [{ type: "tool-result", toolCallId: "f.a", toolName: "wipe", output: { type: "text", value: "WIPED" } }] };
  const asks = call([{ type: "tool-approval-request", approvalId: "ap1", toolCallId: "f.a" }]);
  const messages = [{ role: "user", content: "go" }, call(), result, { role: "user", content: "again" }, asks];
  assert.deepEqual(shape(repairModelMessages(messages, { provider: "anthropic" })), [
    ["user"],
    ["assistant", "tool-call f_a"],
    ["tool", "tool-result f_a"],
    ["user"],
    ["assistant", "tool-call f_a_2", "tool-approval-request f_a_2"],
  ]);
});

test("an approval stays where the result beside it moves or becomes text", async () => {
  const response = { type: "tool-approval-response", approvalId: "ap1", approved: true };
  const orphan = { type: "tool-result", toolCallId: "x", toolName: "read", output: { type: "text", value: "REAL" } };
  const asks = { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "wipe", input: {} }, { type: "tool-approval-request", approvalId: "ap1", toolCallId: "c" }] };
  const repaired = repairModelMessages([{ role: "user", content: "go" }, asks, { role: "tool", content: [response, orphan] }]);
  assert.ok(JSON.stringify(repaired).includes("REAL"));
  const approvals = repaired.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
  assert.deepEqual(approvals, [response]);
});
