"use strict";
// The forms in which callers give a conversation, and the same form of the repaired one.

const { SeamlineError } = require("./error.cjs");

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The JSON of a value. Whatever its getters and `toJSON` methods do, only a SeamlineError comes out. */
function stringified(value) {
  let json;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    throw new SeamlineError("input", `the conversation cannot be written as JSON: ${said(cause)}`, { cause });
  }
  if (typeof json !== "string") {
    throw new SeamlineError("input", "the conversation has no JSON form", {
      hint: "give bytes, a text, a request object or a list of messages",
    });
  }
  return json;
}

function said(cause) {
  try {
    return String(cause instanceof Error ? cause.message : cause);
  } catch {
    return "an error without a text was thrown";
  }
}

/** The bytes of a text. A lone surrogate becomes the escape that JSON has for it. */
function encoded(text) {
  const isWell = text.isWellFormed ? text.isWellFormed() : !LONE.test(text);
  const whole = isWell ? text : text.replace(LONE, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
  return Buffer.from(whole, "utf8");
}

/** The bytes of a view, without a copy unless another thread may write to them. */
function viewed(view) {
  const bytes = ArrayBuffer.isView(view)
    ? new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    : new Uint8Array(view);
  return bytes.buffer instanceof ArrayBuffer ? bytes : Uint8Array.from(bytes);
}

/** The bytes of a conversation in any form, and `restored`, which makes that form of new bytes. */
function given(input) {
  if (typeof input === "string") {
    return { bytes: encoded(input), restored: (bytes) => bytes.toString("utf8") };
  }
  let isBytes = false;
  try {
    isBytes = ArrayBuffer.isView(input) || input instanceof ArrayBuffer || input instanceof SharedArrayBuffer;
  } catch {
    // A hostile proxy is not a list of bytes.
  }
  if (isBytes) return { bytes: viewed(input), restored: (bytes) => (ArrayBuffer.isView(input) ? bytes : Uint8Array.from(bytes).buffer) };
  if (input === null || typeof input !== "object") {
    throw new SeamlineError("input", `a conversation is not a value of type ${input === null ? "null" : typeof input}`, {
      hint: "give bytes, a text, a request object or a list of messages",
    });
  }
  return { bytes: Buffer.from(stringified(input), "utf8"), restored: (bytes) => rebuilt(input, bytes) };
}

/** The object of new bytes. Everything that did not change is the same object as before. */
function rebuilt(input, bytes) {
  try {
    const fresh = JSON.parse(bytes.toString("utf8"));
    if (Array.isArray(fresh) && Array.isArray(input)) return reused(input, fresh);
    for (const key of Object.keys(fresh)) {
      if (!Object.hasOwn(input, key)) continue;
      const [before, after] = [input[key], fresh[key]];
      if (Array.isArray(before) && Array.isArray(after)) fresh[key] = reused(before, after);
      else if (JSON.stringify(before) === JSON.stringify(after)) fresh[key] = before;
    }
    return fresh;
  } catch (cause) {
    throw new SeamlineError("input", `the repaired conversation cannot be read: ${said(cause)}`, { cause });
  }
}

/** A list in which each element that is equal to an old one is the old one; each old one is used once. */
function reused(before, after) {
  const known = new Map();
  for (const element of before) {
    const json = JSON.stringify(element) ?? "null";
    const equal = known.get(json);
    if (equal) equal.push(element);
    else known.set(json, [element]);
  }
  let isSame = before.length === after.length;
  const list = after.map((element, index) => {
    const equal = known.get(JSON.stringify(element));
    const kept = equal?.length ? equal.shift() : element;
    isSame &&= kept === before[index];
    return kept;
  });
  return isSame ? before : list;
}

module.exports = { given, rebuilt, reused, stringified, viewed };
