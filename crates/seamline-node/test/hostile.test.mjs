// Whatever is given, there is an outcome or a SeamlineError.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseStream, SeamlineError, Session, check, convert, repair, safeTrim, sanitize } from "seamline";

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

test("options of a wrong kind are refused, and a session rejects hostile messages", async () => {
  const history = [{ role: "user", content: "go" }];
  const works = [
    () => safeTrim(history, { maxMessages: Number.NaN }),
    () => safeTrim(history, { maxTokens: 9, count: () => Number.NaN }),
    () => safeTrim(history, { maxTokens: 9, count: 5 }),
    () => sanitize(history, { calls: "foo" }),
  ];
  for (const work of works) assert.throws(work, SeamlineError);
  const session = await Session.create("memory:", "s-1");
  await assert.rejects(session.append(cyclic), SeamlineError);
  await session.close();
});
