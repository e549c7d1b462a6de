// Many calls: side by side, and one after another without a leak. `SEAMLINE_SOAK=1` makes a million of them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { ResponseStream, Session, check, convert, repair, safeTrim } from "seamline";
import { repairModelMessages } from "seamline/ai-sdk";
import { repairItems } from "seamline/openai-agents";
import { ROUNDS, assertFlat, measured } from "./memory.mjs";

test("ten thousand repairs run side by side on threads and in the event loop", async () => {
  const work = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { repair } = require(workerData);
    let changed = 0;
    for (let at = 0; at < 2000; at += 1) {
      const body = { messages: [{ role: "tool", tool_call_id: "c" + at, content: "ok" }] };
      if (repair(body).changed) changed += 1;
    }
    parentPort.postMessage(changed);`;
  const path = createRequire(import.meta.url).resolve("seamline");
  const run = () => new Promise((resolve, reject) => {
    const worker = new Worker(work, { eval: true, workerData: path });
    worker.once("message", resolve).once("error", reject);
  });
  const turns = Array.from({ length: 4000 }, async (_, at) => {
    await null;
    return repair([{ role: "tool", tool_call_id: `t${at}`, content: "ok" }]).changed;
  });
  const [workers, here] = await Promise.all([Promise.all([run(), run(), run()]), Promise.all(turns)]);
  assert.deepEqual([workers, here.every(Boolean)], [[2000, 2000, 2000], true]);
});

const CALLS = process.env.SEAMLINE_SOAK === "1" ? 1_000_000 : 20_000;
const SESSIONS = process.env.SEAMLINE_SOAK === "1" ? 1000 : 100;
const clean = { model: "gpt-5", messages: Array.from({ length: 6 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: "x".repeat(300) })) };
const broken = { messages: [{ role: "tool", tool_call_id: "c", content: "x".repeat(1000) }] };
const frame = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n';
const OPERATIONS = [
  () => repair(clean),
  () => repair(broken).messages,
  () => repair(JSON.stringify(broken)).report,
  () => check(clean),
  () => convert(clean, { to: "anthropic" }),
  () => safeTrim(clean, { maxMessages: 3 }),
  () => repairModelMessages([{ role: "user", content: "go" }, { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "f", output: { type: "text", value: "ok" } }] }]),
  () => repairItems([{ role: "user", content: "go" }, { type: "function_call", callId: "c", name: "f", arguments: "{}" }, { role: "user", content: "on" }]),
  () => { const stream = new ResponseStream({ dialect: "openai_chat" }); stream.feed(frame); stream.finish(); },
  () => { try { repair("no json"); } catch { /* An error keeps no memory either. */ } },
];

test("sessions keep no memory after they are closed", async () => {
  assertFlat(await measured(async () => {
    // A round handles at least 20 MB.
    for (let at = 0; at < SESSIONS; at += 1) {
      const session = await Session.create("memory:", "s", { provider: "anthropic" });
      await session.append({ role: "user", content: "x".repeat(200_000) });
      await session.close();
    }
  }));
});

test(`${CALLS.toLocaleString("en")} calls keep no memory`, async () => {
  assertFlat(await measured(() => { for (let at = 0; at < CALLS / ROUNDS; at += 1) OPERATIONS[at % OPERATIONS.length](); }));
});

test("the measure finds a leak", () => {
  // A process of its own: the memory that the other tests gave back would hide the leak.
  const script = `
    import { assertFlat, measured } from ${JSON.stringify(import.meta.resolve("./memory.mjs"))};
    const kept = [];
    assertFlat(await measured(() => { for (let at = 0; at < 12_000; at += 1) kept.push(Buffer.alloc(1024, at)); }));`;
  const { status, stderr } = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "--eval", script]);
  assert.notEqual(status, 0);
  assert.match(stderr.toString(), /grew by \d+ bytes/);
});
