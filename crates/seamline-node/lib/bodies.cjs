"use strict";

const { inspect } = require("node:util");
const { SeamlineError, calling } = require("./error.cjs");
const { given, stringified, viewed } = require("./given.cjs");
const binding = require("./native.cjs");

const CHOICES_MAX = 64;
const choices = new Map();

/** The native options of an object, read once. */
function chosen(options) {
  const json = stringified(options ?? {});
  const known = choices.get(json);
  if (known) return known;
  const made = calling(() => new binding.native.Choices(json));
  if (choices.size >= CHOICES_MAX) choices.delete(choices.keys().next().value);
  choices.set(json, made);
  return made;
}

/** The members that list the messages of a request. */
const LISTS = ["messages", "input", "contents", "steps", "history"];

function listed(body) {
  const value = typeof body === "string" || isBytes(body) ? parsed(body) : body;
  if (Array.isArray(value)) return value;
  const name = LISTS.find((list) => Array.isArray(value?.[list]));
  return name === undefined ? [] : value[name];
}

const isBytes = (value) => ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof SharedArrayBuffer;

function parsed(body) {
  try {
    return JSON.parse(typeof body === "string" ? body : Buffer.from(viewed(body)).toString());
  } catch (cause) {
    throw new SeamlineError("body", "the conversation is not JSON", { cause });
  }
}

/** The outcome of a check. */
class Checked {
  constructor(report) {
    Object.assign(this, report);
  }

  /** Whether the provider would accept the conversation. */
  get accepted() {
    return this.findings.every((finding) => finding.severity !== "error");
  }
}

/** The outcome of a repair: the body in the form in which it was given, and the report. */
class Repaired {
  #text;
  #report;

  constructor(body, changed, text) {
    /** The body to send; the same object as the given one where nothing changed. */
    this.body = body;
    /** Whether the body differs from the given one. */
    this.changed = changed;
    this.#text = text;
  }

  /** The report, as `seamline fix --report` writes it. */
  get report() {
    return (this.#report ??= JSON.parse(this.#text));
  }

  /** The messages of the body. */
  get messages() {
    return listed(this.body);
  }

  get dialect() {
    return this.report.dialect;
  }

  get provider() {
    return this.report.provider;
  }

  get note() {
    return this.report.note;
  }

  /** The violations of the given body. */
  get findings() {
    return this.report.found;
  }

  get actions() {
    return this.report.actions;
  }

  get dropped() {
    return this.report.dropped;
  }

  get remaining() {
    return this.report.remaining;
  }

  get origins() {
    return this.report.origins;
  }

  get sendable() {
    return this.report.sendable;
  }

  get lossless() {
    return this.report.lossless;
  }

  [inspect.custom]() {
    const { actions, dialect, findings, provider, remaining } = this;
    const done = actions.map(({ code, action, pointer }) => `${code} ${action}${pointer ? ` ${pointer}` : ""}`);
    return `Repaired ${inspect({ changed: this.changed, dialect, provider, findings: findings.length, actions: done, remaining: remaining.length })}`;
  }

  toJSON() {
    return this.report;
  }
}

/** The outcome of a conversion. */
class Converted {
  constructor(body, report) {
    this.body = body;
    Object.assign(this, report);
  }
}

/** Checks a conversation and returns its violations. */
function check(input, options) {
  const { bytes } = given(input);
  return new Checked(JSON.parse(calling(() => binding.native.check(bytes, chosen(options)))));
}

/** Repairs a conversation as far as the policy allows. */
function repair(input, options) {
  const { bytes, restored } = given(input);
  const { body, report } = calling(() => binding.native.repair(bytes, chosen(options)));
  return body ? new Repaired(restored(body), true, report) : new Repaired(input, false, report);
}

/** Repairs a body that its provider rejected, once more and harder; undefined where a second try is of no use. */
function afterRejection(input, options, rejection) {
  const { bytes, restored } = given(input);
  const harder = calling(() => binding.native.afterRejection(bytes, chosen(options), stringified(rejection)));
  return harder ? new Repaired(restored(harder.body), true, harder.report) : undefined;
}

const U32_MAX = 2 ** 32 - 1;

/** A limit as the native part takes it. A limit that is absent or infinite does not count. */
function limit(name, given) {
  if (given === undefined || given === null || given === Infinity) return undefined;
  if (typeof given !== "number" || !(given >= 0)) {
    throw new SeamlineError("option", `the option \`${name}\` must be a number that is not negative`);
  }
  return Math.min(U32_MAX, Math.floor(given));
}

/** The tokens of a message, as the native part takes them. */
function counted(tokens) {
  if (typeof tokens === "number" && tokens >= 0) return Math.min(U32_MAX, Math.ceil(tokens));
  throw new SeamlineError("option", "`count` must return a number that is not negative");
}

/** Removes the oldest messages until the history is within the limits, and never splits a call from its result. */
function safeTrim(input, { maxMessages, maxTokens, count, ...options } = {}) {
  const { bytes, restored } = given(input);
  const chosenOptions = chosen({ kept: true, ...options });
  const [messagesMax, tokensMax] = [limit("maxMessages", maxMessages), limit("maxTokens", maxTokens)];
  if (count !== undefined && typeof count !== "function") throw new SeamlineError("option", "the option `count` must be a function");
  const sizes = count ? listed(input).map((message) => counted(count(message))) : [];
  const { body, report } = calling(() => binding.native.trim(bytes, chosenOptions, messagesMax, tokensMax, sizes));
  return { body: body ? restored(body) : input, changed: Boolean(body), ...JSON.parse(report) };
}

/**
 * Removes what an untrusted client must not say: instructions, and results of calls that are not trusted. `calls` is
 * `answered` (default: calls with a result stay), `none`, or the ids of the calls that the server knows.
 */
function sanitize(input, { keepInstructions = false, calls = "answered", ...options } = {}) {
  if (!Array.isArray(calls) && !["answered", "none"].includes(calls)) {
    throw new SeamlineError("option", "`calls` is not one of its values", { hint: "use `answered`, `none`, or a list of ids" });
  }
  const { bytes, restored } = given(input);
  const known = Array.isArray(calls) ? calls.map(String) : undefined;
  const sanitized = calling(() => binding.native.sanitize(bytes, chosen(options), keepInstructions, known, calls === "answered"));
  const { removed } = JSON.parse(sanitized.report);
  const left = sanitized.body ? restored(sanitized.body) : input;
  const repaired = repair(left, { kept: true, ...options });
  return { body: repaired.body, changed: repaired.body !== input, removed, actions: repaired.actions };
}

/** Converts a conversation to another dialect. */
function convert(input, options) {
  const { bytes, restored } = given(input);
  const { body, report } = calling(() => binding.native.convert(bytes, stringified(options ?? {})));
  const isText = typeof input === "string";
  const made = isText ? body.toString("utf8") : isBytes(input) ? restored(body) : JSON.parse(body.toString("utf8"));
  return new Converted(made, JSON.parse(report));
}

/** Classifies an error of a provider: a text, an object with `text`, `status` and `headers`, or the error of an SDK. */
function classify(error, more = {}) {
  return JSON.parse(calling(() => binding.native.classify(stringified({ ...failure(error), ...more }))));
}

/** The facts of an error, as far as it has them. */
function failure(error) {
  if (typeof error === "string") return { text: error };
  if (!(error instanceof Error)) return { text: "", ...error };
  const headers = error.headers ?? error.responseHeaders;
  const status = error.status ?? error.statusCode;
  const text = error.responseBody ?? (error.error ? stringified(error.error) : error.message);
  return {
    text: String(text),
    ...(Number.isInteger(status) ? { status } : {}),
    ...(headers ? { headers: texts(headers) } : {}),
  };
}

function texts(headers) {
  const entries = typeof headers.entries === "function" ? [...headers.entries()] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/** Explains the code or the name of a finding; undefined where there is none. */
function explain(code) {
  const entry = calling(() => binding.native.explain(String(code)));
  return entry ? JSON.parse(entry) : undefined;
}

/** The names of the presets of policies. */
const presets = () => binding.native.presets();

/** The dialect, the model and the provider of a request by its method and URL. */
const endpoint = (method, url) => JSON.parse(calling(() => binding.native.endpoint(String(method), String(url))));

module.exports = { afterRejection, Checked, Converted, Repaired, SeamlineError, check, chosen, classify, convert, endpoint, explain, failure, presets, repair, safeTrim, sanitize };
