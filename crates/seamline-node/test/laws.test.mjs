// The laws over generated conversations, damaged in every way that the generator knows.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { check, repair } from "seamline";

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
const runs = { numRuns: Number(process.env.SEAMLINE_RUNS ?? 300) };

test("L1 and L5: what needs no repair is the same object", () => {
  fc.assert(fc.property(body, (given) => {
    const before = JSON.stringify(given);
    const repaired = repair(given, options);
    assert.equal(JSON.stringify(given), before);
    if (!repaired.changed) assert.equal(repaired.body, given);
    if (check(given, options).findings.length === 0) assert.equal(repaired.body, given);
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
