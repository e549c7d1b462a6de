// The laws over generated conversations, damaged in every way that the generator knows.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ResponseStream, check, repair } from "seamline";

const id = fc.constantFrom("call_1", "call_2", "call_3", "");
const call = fc.record({ id, type: fc.constant("function"), function: fc.record({ name: fc.constantFrom("read", "write", ""), arguments: fc.constantFrom("{}", '{"a":1}', "{", "") }) });
const message = fc.oneof(
  fc.record({ role: fc.constant("user"), content: fc.string() }),
  fc.record({ role: fc.constant("assistant"), content: fc.option(fc.string()), tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }) }),
  fc.record({ role: fc.constant("assistant"), content: fc.string() }),
  fc.record({ role: fc.constant("tool"), tool_call_id: id, content: fc.string() }),
  fc.record({ role: fc.constantFrom("wizard", "system"), content: fc.string() }),
);
const body = fc.record({ model: fc.constant("gpt-5"), messages: fc.array(message, { maxLength: 8 }) });
const options = { provider: "openai", dialect: "openai_chat" };
// A run in CI can be repeated; `SEAMLINE_RUNS` looks at so many other conversations.
const runs = process.env.SEAMLINE_RUNS ? { numRuns: Number(process.env.SEAMLINE_RUNS) } : { numRuns: 300, seed: 2026 };

test("L1 and L5: what needs no repair is the same object, and other messages keep every byte", () => {
  fc.assert(fc.property(body, (given) => {
    const copy = JSON.parse(JSON.stringify(given));
    const repaired = repair(given, options);
    assert.equal(JSON.stringify(given), JSON.stringify(copy), "the given object is not written to");
    const isAccepted = check(copy, options).findings.length === 0;
    if (isAccepted || !repaired.changed) assert.equal(JSON.stringify(repaired.body), JSON.stringify(copy));
    if (isAccepted) assert.equal(repaired.body, given);
    const named = new Set(repaired.actions.map(({ message_index }) => message_index));
    repaired.origins.forEach((origin, at) => {
      if (origin === null || named.has(origin)) return;
      assert.equal(JSON.stringify(repaired.body.messages[at]), JSON.stringify(copy.messages[origin]));
    });
  }), runs);
});

test("L6: every text is in the repaired conversation, or in the report of what was dropped", () => {
  fc.assert(fc.property(body, (given) => {
    const repaired = repair(given, options);
    const left = JSON.stringify(repaired.body) + JSON.stringify(repaired.dropped);
    assert.ok(repaired.lossless || repaired.dropped.length > 0);
    for (const { content, tool_calls: calls = [] } of given.messages) {
      for (const said of [content, ...calls.map((call) => call.function.arguments)]) {
        if (said?.trim()) assert.ok(left.includes(JSON.stringify(said).slice(1, -1)), said);
      }
    }
  }), runs);
});

test("L7: a message that is appended changes no earlier repair, unless it answers a call or is answered", () => {
  fc.assert(fc.property(body, fc.string({ minLength: 1 }), (given, said) => {
    // The end of a conversation may wait for results, so a later message of the user is what settles it.
    const ended = { ...given, messages: [...given.messages, { role: "user", content: "go on" }] };
    const before = repair(ended, options).body.messages;
    const after = repair({ ...ended, messages: [...ended.messages, { role: "user", content: `and ${said}` }] }, options).body.messages;
    assert.deepEqual(after.slice(0, before.length), before);
  }), runs);
});

const noise = fc.oneof(fc.constant(""), fc.string(), fc.uint8Array({ maxLength: 40 }));
const delta = fc.record({ content: fc.string() }).map((value) => `data: ${JSON.stringify({ choices: [{ delta: value }] })}\n\n`);

test("L9: a response that is cut anywhere gives the same message", () => {
  fc.assert(fc.property(fc.array(fc.oneof(delta, noise), { maxLength: 6 }), fc.array(fc.nat({ max: 400 }), { maxLength: 6 }), (pieces, cuts) => {
    const bytes = Buffer.concat([...pieces, "data: [DONE]\n\n"].map((piece) => Buffer.from(piece)));
    const assembled = (list) => {
      const stream = new ResponseStream({ dialect: "openai_chat" });
      for (const piece of list) stream.feed(piece);
      return stream.finish();
    };
    const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((one, other) => one - other);
    assert.deepEqual(assembled(places.slice(1).map((end, at) => bytes.subarray(places[at], end))), assembled([bytes]));
  }), runs);
});

test("L2 and L3: a repaired conversation settles", () => {
  fc.assert(fc.property(body, (given) => {
    const once = repair(given, options);
    const twice = repair(once.body, options);
    assert.equal(twice.changed, false);
    assert.deepEqual(twice.findings, once.remaining);
  }), runs);
});

test("L4: the same input gives the same output in every form", () => {
  fc.assert(fc.property(body, (given) => {
    const text = JSON.stringify(given);
    const fromText = JSON.parse(repair(text, options).body);
    assert.equal(JSON.stringify(repair(given, options).body), JSON.stringify(fromText));
    assert.equal(repair(text, options).body, repair(Buffer.from(text), options).body.toString());
  }), runs);
});

test("L11: any JSON has an outcome or a typed error", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    try {
      repair(value);
    } catch (error) {
      assert.equal(error.name, "SeamlineError");
    }
  }), runs);
});
