"use strict";

const { SeamlineError } = require("./error.cjs");
const { afterRejection, check, endpoint, repair } = require("./bodies.cjs");
const { adapting, settled, told } = require("./failing.cjs");
const { ResponseStream } = require("./stream.cjs");

/**
 * A `fetch` that repairs the requests to providers on their way. Everything else passes through unchanged, and so do
 * streamed responses.
 *
 * `onRepair` gets each repair that changed a body, `onResponse` each assembled response of a stream. `onInvalid` decides
 * about a body that no repair made valid: `send` (default) lets the provider decide, `throw` rejects with a SeamlineError.
 * `onError` gets our own errors and those of the other callbacks; the request goes on.
 */
function repairingFetch(inner, options = {}) {
  if (inner !== undefined && typeof inner !== "function") [inner, options] = [undefined, inner];
  const { onRepair, onResponse, onInvalid = "send", onError, ...chosen } = options ?? {};
  if (!["send", "throw"].includes(onInvalid)) {
    throw new SeamlineError("option", "`onInvalid` is not one of its values", { hint: "use `send` or `throw`" });
  }
  const { repairing, guarded } = adapting("a request", { ...chosen, onError });
  const tell = (error) => told(onError, error, "a request");
  const warnSigned = once(() => tell(signed()));

  return async function fetch(input, init) {
    const send = inner ?? globalThis.fetch;
    const target = targetOf(input, init);
    const at = target && guarded(undefined, () => endpoint(target.method, target.url));
    if (!at?.dialect) return send(input, init);
    const facts = {
      ...repairing,
      dialect: repairing.dialect ?? at.dialect,
      ...given("provider", repairing.provider ?? at.provider),
      ...given("model", repairing.model ?? at.model),
    };
    const pass = async (...request) => watched(await send(...request), facts, onResponse, tell);
    /** Sends a request, and once more where the provider's error says what is wrong. The first error tells more. */
    const passTwice = async (sent, [target, options]) => {
      const first = await send(target, options);
      if (!REJECTED.has(first.status)) return watched(first, facts, onResponse, tell);
      const text = await textOf(first);
      const harder = text && guarded(undefined, () => afterRejection(sent, facts, { text, status: first.status, ...given("provider", facts.provider), dialect: facts.dialect }));
      if (!harder) return first;
      attempt(() => onRepair?.(harder), tell);
      const headers = options?.headers ?? headersOf(target);
      const again = { ...options, ...withBody(harder.body, headers) };
      try {
        const second = await send(target, again);
        return REJECTED.has(second.status) ? first : watched(second, facts, onResponse, tell);
      } catch {
        return first;
      }
    };
    const body = await bodyOf(input, init, target);
    if (body === undefined) return pass(input, init);
    if (target.isSigned) {
      warnSigned();
      if (onInvalid === "throw") refuse(guarded([], () => check(body, facts).findings.filter(({ severity }) => severity === "error")));
      return pass(input, init);
    }
    // A body that cannot be read is for the provider to judge.
    const repaired = guarded(undefined, () => repair(body, facts));
    if (repaired && onInvalid === "throw" && !repaired.sendable) throw invalid(repaired.remaining);
    if (!repaired?.changed) return repaired && init?.body !== undefined ? passTwice(body, [input, init]) : pass(input, init);
    attempt(() => onRepair?.(repaired), tell);
    if (init?.body !== undefined) return passTwice(repaired.body, [input, { ...init, ...withBody(repaired.body, init.headers ?? headersOf(input)) }]);
    return pass(new Request(input, { ...init, ...withBody(repaired.body, init?.headers ?? input.headers) }));
  };
}

/** The statuses of an error that can be about a broken conversation. */
const REJECTED = new Set([400, 422]);
/** The largest error that is read before it is passed on. */
const ERROR_CHARACTERS_MAX = 256 * 1024;

/** The text of an error, read from a copy; undefined where it cannot be read. */
async function textOf(response) {
  try {
    const text = await response.clone().text();
    return text.length <= ERROR_CHARACTERS_MAX ? text : undefined;
  } catch {
    return undefined;
  }
}

const given = (name, value) => (value ? { [name]: value } : {});
const headersOf = (input) => (isRequest(input) ? input.headers : undefined);
const isRequest = (input) => typeof Request !== "undefined" && input instanceof Request;

function once(work) {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

/** Calls a callback of the caller. */
function attempt(work, tell) {
  try {
    settled(work(), tell);
  } catch (error) {
    tell(error);
  }
}

/** The method and the URL of a request that may go to a provider. */
function targetOf(input, init) {
  const method = String(init?.method ?? (isRequest(input) ? input.method : "GET")).toUpperCase();
  if (method !== "POST") return undefined;
  const headers = new Headers(init?.headers ?? headersOf(input));
  // An encoded body would have to be decoded first; the proxy does that.
  if (headers.get("content-encoding")) return undefined;
  const url = isRequest(input) ? input.url : String(input);
  const isSigned = /^AWS4-/.test(headers.get("authorization") ?? "") || /[?&]X-Amz-Signature=/i.test(url);
  return { method, url, isSigned };
}

/** The body of a request, if it is at hand. The body of a `Request` is read from a copy. */
async function bodyOf(input, init) {
  const body = init?.body;
  if (typeof body === "string" || ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return body;
  if (body !== undefined || !isRequest(input) || !input.body) return undefined;
  try {
    return Buffer.from(await input.clone().arrayBuffer());
  } catch {
    // The real request fails in the same way, or it was used before.
    return undefined;
  }
}

function withBody(body, before) {
  const headers = new Headers(before);
  // The length belongs to the old body.
  headers.delete("content-length");
  return { body, headers };
}

/** The response, whose bytes are also read where the caller wants the assembled response. */
function watched(response, { dialect, provider, policy }, onResponse, tell) {
  const type = response.headers.get("content-type") ?? "";
  const isStream = /event-stream|eventstream|ndjson|jsonl/.test(type);
  if (!onResponse || !isStream || !response.body) return response;
  let stream;
  try {
    stream = new ResponseStream({ dialect, ...given("provider", provider), ...given("policy", policy), content_type: type });
    stream.head(response.status, response.headers);
  } catch (error) {
    tell(error);
    return response;
  }
  stream.response.then(onResponse).catch(tell);
  const { status, statusText, headers } = response;
  const passed = new Response(response.body.pipeThrough(stream), { status, statusText, headers });
  for (const name of ["url", "redirected", "type"]) Object.defineProperty(passed, name, { value: response[name] });
  return passed;
}

function signed() {
  return new SeamlineError("signed", "the request is signed, so its body passes without a repair", {
    hint: "repair the messages before they are signed, for example with `repairStep` of seamline/ai-sdk",
  });
}

function refuse(findings) {
  if (findings.length > 0) throw invalid(findings);
}

function invalid(findings) {
  const [first] = findings;
  const error = new SeamlineError("invalid", `the request is not valid: ${first?.message ?? "a finding remains"}`, {
    hint: first ? `${first.code} ${first.pointer}` : undefined,
  });
  error.findings = findings;
  return error;
}

module.exports = { repairingFetch };
