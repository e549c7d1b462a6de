// Whatever is given, there is an outcome or a SeamlineError.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { ResponseStream, SeamlineError, check, convert, repair } from "seamline";

const cyclic = { messages: [] };
cyclic.messages.push(cyclic);
let deep = "x";
for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
const revoked = Proxy.revocable({}, {});
revoked.revoke();

const hostile = {
  cycle: cyclic,
  "huge integer": { messages: [{ role: "user", content: 10n ** 40n }] },
  "deep list": deep,
  "getter that throws": { get messages() { throw new Error("no"); } },
  "getter that throws nothing": { get messages() { throw undefined; } },
  "toJSON that throws": { toJSON() { throw new TypeError("no"); } },
  "toJSON of undefined": { toJSON: () => undefined },
  "revoked proxy": revoked.proxy,
  "proxy that throws": new Proxy({}, { ownKeys() { throw new Error("no"); }, get() { throw new Error("no"); }, getPrototypeOf() { throw new Error("no"); } }),
  "error whose text throws": { get messages() { const error = new Error("x"); Object.defineProperty(error, "message", { get() { throw new Error("no"); } }); throw error; } },
  function: () => {},
  symbol: Symbol("x"),
  null: null,
  undefined: undefined,
  number: Number.NaN,
  date: new Date(0),
  "list of undefined": [undefined, undefined],
  "empty text": "",
  "half a text": '{"messages":[{"role":"user","content":"\ud800',
  "no UTF-8": Buffer.from([0xff, 0xfe, 0x00]),
  "nothing at all": new Uint8Array(0),
};

for (const [name, value] of Object.entries(hostile)) {
  test(`${name} is refused with a typed error`, () => {
    for (const operation of [check, repair, (input) => convert(input, { to: "anthropic" })]) {
      assert.throws(() => operation(value), (error) => error instanceof SeamlineError && error.code.length > 0 && error.message.length > 0);
    }
  });
}

test("lone surrogates survive", () => {
  const body = { model: "gpt-5", messages: [{ role: "user", content: "a\ud800b" }] };
  assert.equal(repair(body).messages[0].content.length, 3);
  const text = '{"model":"gpt-5","messages":[{"role":"tool","tool_call_id":"c","content":"a\udc00b"}]}';
  assert.match(repair(text).body, /a\\udc00b|a\\ufffdb|a\ufffdb/i);
});

test("values that JSON writes in its own way are read as JSON", () => {
  const body = { model: "gpt-5", messages: [{ role: "user", content: "x", extra: undefined, at: new Date(0), n: Number.NaN }] };
  assert.equal(repair(body).body, body);
});

test("bytes that another thread may change are copied", () => {
  const bytes = Buffer.from('{"model":"gpt-5","messages":[{"role":"user","content":"x"}]}');
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  assert.equal(repair(shared).body, shared);
});

test("pieces that are not bytes are refused, and a finished stream is closed", () => {
  const stream = new ResponseStream({ dialect: "openai_chat" });
  assert.throws(() => stream.feed(7), SeamlineError);
  assert.throws(() => stream.feed({}), SeamlineError);
  stream.finish();
  assert.throws(() => stream.feed("x"), (error) => error.code === "stream");
  assert.throws(() => stream.finish(), SeamlineError);
});

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
  const { createRequire } = await import("node:module");
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

test("many calls keep no memory", () => {
  const body = { model: "gpt-5", messages: Array.from({ length: 20 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: "x".repeat(2000) })) };
  const broken = { messages: [{ role: "tool", tool_call_id: "c", content: "x".repeat(40_000) }] };
  const calls = Number(process.env.SEAMLINE_LEAK_CALLS ?? 3000);
  const round = () => { for (let at = 0; at < calls; at += 1) { repair(body); if (at % 4 === 0) repair(broken); } };
  round();
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  round();
  globalThis.gc?.();
  const grown = process.memoryUsage().rss - before;
  // Each round handles over 120 MB of bodies.
  assert.ok(grown < 60 * 1024 * 1024, `grew by ${grown} bytes`);
});
