import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseStream } from "seamline";

const FRAMES = [
  'data: {"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n\n',
  'data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
];
const encode = (text) => new TextEncoder().encode(text);
const source = (pieces) => new ReadableStream({ start(controller) { for (const piece of pieces) controller.enqueue(encode(piece)); controller.close(); } });
const collected = async (readable) => Buffer.concat(await Array.fromAsync?.(readable) ?? await all(readable)).toString();
async function all(readable) {
  const pieces = [];
  for await (const piece of readable) pieces.push(piece);
  return pieces;
}

test("bytes pass a pipe unchanged and the response is assembled", async () => {
  const stream = new ResponseStream({ provider: "openai" });
  assert.ok(stream instanceof TransformStream);
  assert.equal(await collected(source(FRAMES).pipeThrough(stream)), FRAMES.join(""));
  const response = await stream.response;
  assert.deepEqual([response.ending, response.stop_reason, response.well], ["complete", "stop", true]);
  assert.deepEqual(response.messages, [{ role: "assistant", content: "Hi" }]);
});

test("a cut call is not executable", async () => {
  const stream = new ResponseStream({ dialect: "openai_chat" });
  stream.feed('data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"read","arguments":"{\\"pa"}}]}}]}\n\n');
  const response = stream.finish();
  assert.deepEqual([response.ending, response.calls[0].executable], ["truncated", false]);
});

test("head, fail, stall and abort decide the ending", () => {
  const ended = (act) => {
    const stream = new ResponseStream({ dialect: "openai_chat" });
    stream.feed(FRAMES[0]);
    act(stream);
    return stream.finish().ending;
  };
  assert.deepEqual([ended((s) => s.abort()), ended((s) => s.stall()), ended((s) => s.fail("connection reset by peer"))], ["aborted", "stalled", "failed"]);
  const limited = new ResponseStream({ dialect: "openai_chat" });
  limited.head(429, new Headers({ "retry-after": "9" }));
  limited.feed('{"error":{"message":"slow down"}}');
  assert.deepEqual(limited.finish().error.retry_after_ms, 9000);
});

test("a stream of an unknown dialect rejects, and a caller that does not look is not disturbed", async () => {
  const stream = new ResponseStream();
  await collected(source(["<html>Bad gateway</html>"]).pipeThrough(stream));
  await assert.rejects(stream.response, /cannot detect the dialect/);
});
