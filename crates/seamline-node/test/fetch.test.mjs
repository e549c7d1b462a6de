import assert from "node:assert/strict";
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
