// Adapters without their frameworks: what is clean stays the same object, and what is damaged is repaired.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openStore } from "seamline";
import { repairModelMessages, repairStep, repairUIMessages, seamlineMiddleware } from "seamline/ai-sdk";
import { SeamlineProcessor } from "seamline/mastra";
import { SeamlineSession, repairInput, repairItems } from "seamline/openai-agents";
import { repairTranscript, seamlineContextEngine } from "seamline/openclaw";
import { SeamlinePlugin } from "seamline/opencode";
import { seamlineExtension } from "seamline/pi";

const user = { role: "user", content: "go" };
const call = (id = "call_1") => ({ role: "assistant", content: [{ type: "text", text: "Let me" }, { type: "tool-call", toolCallId: id, toolName: "read", input: { a: 1 } }] });
const result = (id = "call_1") => ({ role: "tool", content: [{ type: "tool-result", toolCallId: id, toolName: "read", output: { type: "text", value: "real" } }] });

test("AI SDK: a clean history is the same list", () => {
  const clean = [user, call(), result(), { role: "assistant", content: "done" }, user];
  assert.equal(repairModelMessages(clean), clean);
  const two = [user, { role: "assistant", content: [...call("a").content, ...call("b").content] }, { role: "tool", content: [...result("a").content, ...result("b").content] }];
  assert.equal(repairModelMessages(two), two);
});

test("AI SDK: missing, orphaned, displaced and duplicate results are repaired, and real ones are kept", () => {
  const missing = repairModelMessages([user, call(), user]);
  assert.deepEqual(missing.map(({ role }) => role), ["user", "assistant", "tool", "user"]);
  assert.deepEqual([missing[2].content[0].toolCallId, missing[2].content[0].toolName, missing[2].content[0].output.type], ["call_1", "read", "error-text"]);
  const displaced = repairModelMessages([user, call(), user, result(), user]);
  assert.deepEqual(displaced.map(({ role }) => role), ["user", "assistant", "tool", "user", "user"]);
  assert.equal(displaced[2].content[0].output.value, "real");
  for (const damaged of [[user, result(), user], [user, call(), result(), result(), user]]) {
    const repaired = repairModelMessages(damaged);
    assert.notEqual(repaired, damaged);
    assert.ok(JSON.stringify(repaired).includes("real"));
    assert.equal(repairModelMessages(repaired), repaired, "a repair settles");
  }
});

test("AI SDK: a call that waits for an approval stays open, and calls of the provider are not touched", () => {
  const asking = [user, { role: "assistant", content: [...call().content, { type: "tool-approval-request", approvalId: "a1", toolCallId: "call_1" }] }, { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] }];
  assert.equal(repairModelMessages(asking), asking);
  const hosted = [user, { role: "assistant", content: [{ type: "tool-call", toolCallId: "x", toolName: "web", input: {}, providerExecuted: true }, { type: "text", text: "ok" }] }, user];
  assert.equal(repairModelMessages(hosted), hosted);
});

test("AI SDK: prepareStep, middleware and UI messages", async () => {
  const step = await repairStep(async () => ({ activeTools: ["read"] }))({ messages: [user, call(), user] });
  assert.deepEqual([step.activeTools, step.messages.length], [["read"], 4]);
  const params = { prompt: [{ role: "user", content: [{ type: "text", text: "go" }] }] };
  assert.equal(await seamlineMiddleware().transformParams({ params }), params);
  assert.equal((await seamlineMiddleware().transformParams({ params: { prompt: [user, call(), user] } })).prompt.length, 4);
  const open = { type: "tool-read", toolCallId: "c", state: "input-available", input: {} };
  const ui = [{ role: "user", parts: [] }, { role: "assistant", parts: [open] }, { role: "user", parts: [] }];
  assert.match(repairUIMessages(ui)[1].parts[0].errorText, /outcome unknown/);
  const pending = ui.slice(0, 2);
  assert.equal(repairUIMessages(pending), pending);
});

const asked = { role: "user", content: "go" };
const called = { type: "function_call", callId: "call_1", name: "read", arguments: "{}", status: "completed" };
const answered = { type: "function_call_result", callId: "call_1", name: "read", status: "completed", output: { type: "text", text: "real" } };

test("OpenAI Agents: items are repaired, and clean ones are the same list", async () => {
  const clean = [asked, called, answered];
  assert.equal(repairItems(clean), clean);
  const repaired = repairItems([asked, called, asked]);
  assert.deepEqual(repaired.map(({ type, role }) => type ?? role), ["user", "function_call", "function_call_result", "user"]);
  assert.equal(repaired[1], called);
  assert.ok(JSON.stringify(repairItems([asked, answered, asked])).includes("real"));
  const filtered = await repairInput()({ modelData: { input: [asked, called, asked], instructions: "x" } });
  assert.deepEqual([filtered.input.length, filtered.instructions], [4, "x"]);
});

test("OpenAI Agents: a repeated id is given to one call only, because the SDK drops the others", () => {
  const repaired = repairItems([asked, called, answered, asked, called, asked]);
  const ids = repaired.filter(({ type }) => type).map(({ type, callId }) => [type, callId]);
  assert.deepEqual(ids, [["function_call", "call_1"], ["function_call_result", "call_1"], ["function_call", "call_1_2"], ["function_call_result", "call_1_2"]]);
  assert.equal(repaired[2], answered);
});

test("OpenAI Agents: a session gives its items back, repaired", async () => {
  const session = new SeamlineSession({ store: "memory:", id: "s-1" });
  await session.addItems([asked, called]);
  await session.addItems([asked]);
  const items = await session.getItems();
  assert.deepEqual([items[0], items[1], items[2].type, items.length], [asked, called, "function_call_result", 4]);
  assert.deepEqual(await session.popItem(), asked);
  assert.equal(await session.getSessionId(), "s-1");
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
  await session.close();
});

const sessionOf = async (id, ...lists) => {
  const session = new SeamlineSession({ store: "memory:", id });
  for (const list of lists) await session.addItems(list);
  return session;
};
const turnOf = (id) => [{ role: "user", content: `ask ${id}` }, { ...called, callId: id }, { ...answered, callId: id }];

test("OpenAI Agents: the latest items of a session begin before a cycle", async () => {
  const session = await sessionOf("s-limit", turnOf("c1"), turnOf("c2"));
  assert.deepEqual(await session.getItems(0), []);
  for (const limit of [1, 2, 3]) assert.deepEqual(await session.getItems(limit), turnOf("c2"), `${limit}`);
  assert.deepEqual(await session.getItems(4), turnOf("c2"));
  assert.equal((await session.getItems(6)).length, 6);
  await session.close();
});

test("OpenAI Agents: each item can be taken back, down to none", async () => {
  const all = [...turnOf("c1"), ...turnOf("c2")];
  const session = await sessionOf("s-pop", all);
  for (const expected of all.toReversed?.() ?? [...all].reverse()) assert.deepEqual(await session.popItem(), expected);
  assert.equal(await session.popItem(), undefined);
  await session.addItems(turnOf("c3"));
  assert.deepEqual(await session.getItems(), turnOf("c3"));
  await session.close();
});

test("OpenAI Agents: an item is taken back in one step, so that a crash loses no other item", async () => {
  const store = await openStore("memory:");
  const session = new SeamlineSession({ store, id: "s-crash" });
  await session.addItems(turnOf("c1"));
  const durable = await store.create("s-other", { dialect: "openai_responses" });
  const { append, reset } = Object.getPrototypeOf(durable);
  const crash = async () => { throw new Error("kill -9"); };
  Object.assign(Object.getPrototypeOf(durable), { append: crash, reset: crash });
  try {
    assert.deepEqual(await session.popItem(), turnOf("c1")[2]);
  } finally {
    Object.assign(Object.getPrototypeOf(durable), { append, reset });
  }
  assert.deepEqual((await session.getItems()).slice(0, 2), turnOf("c1").slice(0, 2));
  await session.close();
});

test("OpenAI Agents: a cleared session is empty, and its store has the policy", async () => {
  const store = await openStore("memory:");
  const session = new SeamlineSession({ store, id: "s-clear", policy: "clawos" });
  await session.addItems([{ role: "system", content: "be brief" }, ...turnOf("c1")]);
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
  await session.addItems([{ role: "system", content: "be brief" }, asked]);
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
  await session.addItems([asked, called, asked]);
  await session.close();
  const stored = await store.open("s-clear");
  assert.equal((await stored.sessionStart()).repair_offered, true, "the policy `clawos` offers a repair");
  await stored.close();
});

test("Mastra, opencode, pi and OpenClaw", async () => {
  assert.equal(new SeamlineProcessor().processLLMRequest({ prompt: [user, call(), result()] }), undefined);
  assert.equal(new SeamlineProcessor().processLLMRequest({ prompt: [user, call(), user] }).prompt.length, 4);
  const plugin = await SeamlinePlugin();
  const messages = [{ info: {}, parts: [{ type: "tool", callID: "c", tool: "bash", state: { status: "running", input: {}, time: { start: 5 } } }] }, { info: {}, parts: [] }];
  await plugin["experimental.chat.messages.transform"]({}, { messages });
  assert.deepEqual([messages[0].parts[0].state.status, messages[0].parts[0].state.time], ["error", { start: 5, end: 5 }]);

  const transcript = [
    { role: "user", content: "go", timestamp: 1 },
    { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "read", arguments: {} }], stopReason: "toolUse", timestamp: 2 },
    { role: "user", content: "well?", timestamp: 3 },
  ];
  const engine = seamlineContextEngine({}, { compact: async () => ({ ok: true, compacted: true }) });
  const semantics = { currentTurnFence: "before-current-turn-entry-v1", turnAdvancementIdempotency: "atomic-idempotent-v1" };
  assert.deepEqual(engine.info, { id: "seamline", name: "Seamline", ownsCompaction: false, transcriptSemantics: semantics });
  assert.deepEqual(await engine.commitTurn({ messages: transcript }), { status: "committed" });
  assert.deepEqual(await engine.compact({}), { ok: true, compacted: true });
  const { messages: assembled } = await engine.assemble({ messages: transcript });
  assert.deepEqual(assembled.map(({ role }) => role), ["user", "assistant", "toolResult", "user"]);
  assert.equal(assembled[1], transcript[1]);
  assert.equal(repairTranscript(assembled), assembled);
  const handlers = {};
  seamlineExtension({ on: (name, handler) => { handlers[name] = handler; } });
  assert.equal(handlers.context({ messages: transcript }).messages.length, 4);
  assert.equal(handlers.context({ messages: assembled }), undefined);
  assert.equal(handlers.before_provider_request({ payload: { model: "gpt-5", messages: [{ role: "user", content: "x" }] } }), undefined);
  assert.equal(handlers.before_provider_request({ payload: { nothing: true } }), undefined);
});
