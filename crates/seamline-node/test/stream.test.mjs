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

/** A source that gives pieces and then breaks. */
const breaking = (pieces) => {
  const left = [...pieces];
  return new ReadableStream({ pull(controller) { const piece = left.shift(); if (piece === undefined) controller.error(new Error("ECONNRESET")); else controller.enqueue(encode(piece)); } }, { highWaterMark: 0 });
};

test("a source that breaks gives a truncated response, and a caller that leaves an aborted one", async () => {
  const broken = new ResponseStream({ dialect: "openai_chat" });
  await assert.rejects(collected(breaking(FRAMES.slice(0, 1)).pipeThrough(broken)), /ECONNRESET/);
  assert.equal((await broken.response).ending, "truncated");

  const left = new ResponseStream({ dialect: "openai_chat" });
  let cancelled;
  const endless = new ReadableStream({ pull(controller) { controller.enqueue(encode(FRAMES[0])); }, cancel(reason) { cancelled = reason; } }, { highWaterMark: 0 });
  const reader = endless.pipeThrough(left).getReader();
  await reader.read();
  await reader.cancel("enough");
  assert.equal((await left.response).ending, "aborted");
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(cancelled, "enough");
});

test("a piece that the stream cannot read passes, and the response rejects", async () => {
  const stream = new ResponseStream({ dialect: "openai_chat" });
  const pieces = [];
  const odd = new ReadableStream({ start(controller) { controller.enqueue(FRAMES[0]); controller.enqueue({ odd: true }); controller.enqueue(FRAMES[1]); controller.close(); } });
  for await (const piece of odd.pipeThrough(stream)) pieces.push(piece);
  assert.deepEqual(pieces, [FRAMES[0], { odd: true }, FRAMES[1]]);
  await assert.rejects(stream.response, (error) => error.code === "stream");
});

test("a slow reader holds the source back", async () => {
  let pulled = 0;
  const endless = new ReadableStream({ pull(controller) { pulled += 1; controller.enqueue(encode(FRAMES[0])); } }, { highWaterMark: 0 });
  const reader = endless.pipeThrough(new ResponseStream({ dialect: "openai_chat" })).getReader();
  for (let at = 0; at < 3; at += 1) await reader.read();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(pulled <= 8, `${pulled} pieces were pulled for 3`);
  await reader.cancel();
});
