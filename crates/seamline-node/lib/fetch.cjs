"use strict";

const { SeamlineError } = require("./error.cjs");
const { endpoint, repair } = require("./bodies.cjs");
const { ResponseStream } = require("./stream.cjs");

/**
 * A `fetch` that repairs the requests to providers on their way. Everything else passes through unchanged, and so do
 * streamed responses.
 *
 * `onRepair` gets each repair that changed a body, `onResponse` each assembled response of a stream. `onInvalid` decides
 * about a body that no repair made valid: `send` (default) lets the provider decide, `throw` rejects with a SeamlineError.
 */
function repairingFetch(inner, options = {}) {
  if (inner !== undefined && typeof inner !== "function") [inner, options] = [undefined, inner];
  const { onRepair, onResponse, onInvalid = "send", onError, ...chosen } = options ?? {};

  return async function fetch(input, init) {
    const send = inner ?? globalThis.fetch;
    const target = await read(input, init);
    const at = target && endpoint(target.method, target.url);
    if (!at?.dialect) return send(input, init);

    let repaired;
    try {
      const model = chosen.model ?? at.model;
      const provider = chosen.provider ?? at.provider;
      repaired = repair(target.body, {
        ...chosen,
        dialect: chosen.dialect ?? at.dialect,
        ...(provider ? { provider } : {}),
        ...(model ? { model } : {}),
      });
    } catch (error) {
      // A body that cannot be read is for the provider to judge.
      onError?.(error);
      return watched(await send(input, init), at, onResponse);
    }
    if (onInvalid === "throw" && !repaired.sendable) throw invalid(repaired);
    if (!repaired.changed) return watched(await send(input, init), at, onResponse);
    onRepair?.(repaired);
    const response = target.isRequest
      ? await send(new Request(input, { ...init, ...withBody(repaired.body, init?.headers ?? input.headers) }))
      : await send(input, { ...init, ...withBody(repaired.body, init.headers) });
    return watched(response, at, onResponse);
  };
}

/** The method, the URL and the body of a request whose body is at hand. */
async function read(input, init) {
  const isRequest = typeof Request !== "undefined" && input instanceof Request;
  const method = String(init?.method ?? (isRequest ? input.method : "GET")).toUpperCase();
  if (method !== "POST") return undefined;
  const url = isRequest ? input.url : String(input);
  const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
  // An encoded body would have to be decoded first; the proxy does that.
  if (headers.get("content-encoding")) return undefined;
  const body = init?.body;
  if (typeof body === "string") return { method, url, body };
  if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return { method, url, body };
  if (body === undefined && isRequest && input.body) {
    return { method, url, body: Buffer.from(await input.clone().arrayBuffer()), isRequest };
  }
  return undefined;
}

function withBody(body, before) {
  const headers = new Headers(before);
  // The length belongs to the old body.
  headers.delete("content-length");
  return { body, headers };
}

/** The response, whose bytes are also read where the caller wants the assembled response. */
function watched(response, at, onResponse) {
  const type = response.headers.get("content-type") ?? "";
  const isStream = /event-stream|eventstream|ndjson|jsonl/.test(type);
  if (!onResponse || !isStream || !response.body) return response;
  const stream = new ResponseStream({ dialect: at.dialect, content_type: type });
  stream.head(response.status, response.headers);
  stream.response.then(onResponse, () => {});
  const { status, statusText, headers } = response;
  const passed = new Response(response.body.pipeThrough(stream), { status, statusText, headers });
  for (const name of ["url", "redirected", "type"]) Object.defineProperty(passed, name, { value: response[name] });
  return passed;
}

function invalid(repaired) {
  const [first] = repaired.remaining;
  const error = new SeamlineError("invalid", `the request is not valid: ${first?.message ?? "a finding remains"}`, {
    hint: first ? `${first.code} ${first.pointer}` : undefined,
  });
  error.findings = repaired.remaining;
  return error;
}

module.exports = { repairingFetch };
