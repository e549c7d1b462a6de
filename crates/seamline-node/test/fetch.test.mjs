import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { SeamlineError } from "seamline";
import { repairingFetch } from "seamline/fetch";

const URL = "https://api.openai.com/v1/chat/completions";
const orphan = { model: "gpt-5", messages: [{ role: "user", content: "go" }, { role: "tool", tool_call_id: "call_1", content: "ok" }] };
const clean = { model: "gpt-5", messages: [{ role: "user", content: "go" }] };

/** A `fetch` that keeps what it was called with. */
function recording(response = () => new Response("{}", { headers: { "content-type": "application/json" } })) {
  const calls = [];
  const inner = async (input, init) => {
    calls.push([input, init]);
    return response();
  };
  return { calls, inner };
}

test("a clean request passes with the same arguments", async () => {
  const { calls, inner } = recording();
  const init = { method: "POST", body: JSON.stringify(clean), headers: { authorization: "x" } };
  await repairingFetch(inner)(URL, init);
  assert.equal(calls[0][0], URL);
  assert.equal(calls[0][1], init);
});

test("a damaged request is repaired in every form of the body", async () => {
  const text = JSON.stringify(orphan);
  const repairs = [];
  for (const body of [text, Buffer.from(text), new TextEncoder().encode(text).buffer]) {
    const { calls, inner } = recording();
    const fetch = repairingFetch(inner, { onRepair: (repaired) => repairs.push(repaired) });
    await fetch(URL, { method: "POST", body, headers: { "content-length": "9", "x-own": "1" } });
    const sent = JSON.parse(Buffer.from(calls[0][1].body).toString());
    assert.ok(!sent.messages.some(({ role }) => role === "tool") && JSON.stringify(sent).includes("ok"));
    assert.deepEqual([calls[0][1].headers.get("content-length"), calls[0][1].headers.get("x-own")], [null, "1"]);
  }
  assert.deepEqual(repairs.map(({ provider }) => provider), ["openai", "openai", "openai"]);
});

test("a Request object is repaired", async () => {
  const { calls, inner } = recording();
  await repairingFetch(inner)(new Request(URL, { method: "POST", body: JSON.stringify(orphan), headers: { "x-own": "1" } }));
  const [sent] = calls[0];
  assert.equal(sent.headers.get("x-own"), "1");
  assert.ok(!(await sent.json()).messages.some(({ role }) => role === "tool"));
});

test("other requests and unreadable bodies pass", async () => {
  const others = [
    [URL, { method: "GET" }],
    ["https://api.openai.com/v1/embeddings", { method: "POST", body: JSON.stringify(orphan) }],
    [URL, { method: "POST", body: "no json" }],
    [URL, { method: "POST", body: JSON.stringify(orphan), headers: { "content-encoding": "gzip" } }],
    [URL, undefined],
  ];
  for (const [url, init] of others) {
    const { calls, inner } = recording();
    const errors = [];
    await repairingFetch(inner, { onError: (error) => errors.push(error) })(url, init);
    assert.equal(calls[0][1], init);
    assert.ok(errors.every((error) => error instanceof SeamlineError));
  }
});

test("a body that stays invalid is sent, or refused where the caller asks for it", async () => {
  const { calls, inner } = recording();
  const init = { method: "POST", body: JSON.stringify(orphan) };
  await repairingFetch(inner, { policy: "strict" })(URL, init);
  assert.equal(calls[0][1], init);
  const refusing = repairingFetch(inner, { policy: "strict", onInvalid: "throw" });
  await assert.rejects(refusing(URL, init), (error) => error.code === "invalid" && error.findings.length > 0);
  assert.equal(calls.length, 1);
});

test("a streamed response passes unchanged and is assembled", async () => {
  const bytes = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  const { inner } = recording(() => new Response(bytes, { status: 200, headers: { "content-type": "text/event-stream", "x-own": "1" } }));
  let assembled;
  const done = new Promise((resolve) => { assembled = resolve; });
  const response = await repairingFetch(inner, { onResponse: assembled })(URL, { method: "POST", body: JSON.stringify(clean) });
  assert.equal(response.headers.get("x-own"), "1");
  assert.equal(await response.text(), bytes);
  assert.deepEqual((await done).messages, [{ role: "assistant", content: "Hi" }]);
});

test("a signed request passes unchanged, and the caller is told once", async () => {
  const bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-v1%3A0/converse";
  const body = JSON.stringify({ messages: [{ role: "user", content: [{ toolResult: { toolUseId: "tooluse_1", content: [{ text: "ok" }] } }] }] });
  const { calls, inner } = recording();
  const errors = [];
  const fetch = repairingFetch(inner, { onError: (error) => errors.push(error) });
  const headers = { authorization: "AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host, Signature=z" };
  const init = { method: "POST", body, headers };
  await fetch(bedrock, init);
  await fetch(bedrock, init);
  await fetch(`${bedrock}?X-Amz-Signature=z`, { method: "POST", body });
  assert.ok(calls.every(([, sent]) => sent.body === body) && calls[0][1] === init);
  assert.deepEqual(errors.map(({ code }) => code), ["signed"]);
  assert.match(errors[0].hint, /repairStep/);
  await repairingFetch(inner)(bedrock, { method: "POST", body });
  assert.notEqual(calls[3][1].body, body, "the same request without a signature is repaired");
  const refusing = repairingFetch(inner, { onInvalid: "throw", onError: () => {} });
  await assert.rejects(refusing(bedrock, init), (error) => error.code === "invalid");
});

const STREAM = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const streaming = () => recording(() => new Response(STREAM, { headers: { "content-type": "text/event-stream" } }));

test("callbacks that throw are told to onError, and the request goes on", async (context) => {
  const rejections = [];
  const listener = (error) => rejections.push(error);
  process.prependListener("unhandledRejection", listener);
  context.after(() => process.removeListener("unhandledRejection", listener));
  const errors = [];
  const fail = (text) => () => { throw new Error(text); };
  const options = { onRepair: fail("repair"), onResponse: fail("response"), onError: (error) => { errors.push(error.message); throw error; } };
  const response = await repairingFetch(streaming().inner, options)(URL, { method: "POST", body: JSON.stringify(orphan) });
  assert.equal(await response.text(), STREAM);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([errors, rejections], [["repair", "response"], []]);
});

test("callbacks that reject are told to onError, and the process goes on", async (context) => {
  const rejections = [];
  const listener = (error) => rejections.push(error.message);
  process.prependListener("unhandledRejection", listener);
  context.after(() => process.removeListener("unhandledRejection", listener));
  const errors = [];
  const reject = (text) => async () => { throw new Error(text); };
  const options = { onRepair: reject("repair"), onResponse: reject("response"), onError: async (error) => { errors.push(error.message); throw error; } };
  const response = await repairingFetch(streaming().inner, options)(URL, { method: "POST", body: JSON.stringify(orphan) });
  await response.text();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([errors.sort(), rejections], [["repair", "response"], []]);
});

test("a streamed response is assembled with the options of the fetch", async () => {
  const assembled = async (options, bytes) => {
    const { inner } = recording(() => new Response(bytes, { headers: { "content-type": "text/event-stream" } }));
    let resolve;
    const done = new Promise((set) => { resolve = set; });
    const response = await repairingFetch(inner, { ...options, onResponse: resolve, onError: resolve })(URL, { method: "POST", body: JSON.stringify(clean) });
    assert.equal(await response.text(), bytes);
    return done;
  };
  const claude = 'event: message_start\ndata: {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"model":"x"}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';
  assert.equal((await assembled({ dialect: "anthropic_messages" }, claude)).dialect, "anthropic_messages");
  const merged = fs.readFileSync(path.join(process.env.SEAMLINE_FIXTURES, "streams/anthropic_messages/start-and-continuation-merged/input.bin")).toString();
  const outcomes = [];
  for (const arg_source of ["merge_heuristic", "delta_wins"]) {
    const { calls } = await assembled({ dialect: "anthropic_messages", policy: { stream: { arg_source } } }, merged);
    outcomes.push(calls[0].arguments);
  }
  assert.notEqual(outcomes[0], outcomes[1], "the policy decides how arguments are read");
});

test("the body of a request to another server is not read", async () => {
  const pulled = [];
  const stream = () => new ReadableStream({ pull(controller) { pulled.push(1); controller.enqueue(new TextEncoder().encode("x")); controller.close(); } }, { highWaterMark: 0 });
  const { calls, inner } = recording();
  const request = new Request("https://example.com/upload", { method: "POST", body: stream(), duplex: "half" });
  await repairingFetch(inner)(request);
  assert.deepEqual([calls[0][0], pulled.length], [request, 0]);
});

test("a request that the provider rejects is repaired harder and sent once more", async () => {
  const body = JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "hi", mood: "good" }] });
  const error = JSON.stringify({ error: { message: "Unknown parameter: 'messages[0].mood'.", type: "invalid_request_error", code: null } });
  const rejected = () => new Response(error, { status: 400, headers: { "content-type": "application/json" } });
  const sending = async (...responses) => {
    const sent = [];
    const inner = async (_, init) => {
      sent.push(JSON.parse(init.body.toString()));
      const next = responses.shift();
      if (next instanceof Error) throw next;
      return next;
    };
    const repairs = [];
    const response = await repairingFetch(inner, { onRepair: (repaired) => repairs.push(repaired) })(URL, { method: "POST", body });
    return { status: response.status, text: await response.text(), sent, repairs };
  };
  const helped = await sending(rejected(), new Response("{}"));
  assert.deepEqual([helped.status, helped.sent.length, helped.repairs.length], [200, 2, 1]);
  assert.deepEqual(helped.sent[1].messages, [{ role: "user", content: "hi" }]);
  for (const second of [rejected(), new Error("reset")]) {
    const failed = await sending(rejected(), second);
    assert.deepEqual([failed.status, failed.text, failed.sent.length], [400, error, 2]);
  }
  const other = new Response('{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}', { status: 400 });
  assert.equal((await sending(other)).sent.length, 1);
});

test("an `onInvalid` that does not exist is refused", () => {
  assert.throws(() => repairingFetch({ onInvalid: "x" }), SeamlineError);
});
