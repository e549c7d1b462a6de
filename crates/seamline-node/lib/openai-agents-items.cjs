"use strict";
// Items of OpenAI Agents as items of the Responses API, and repaired items back.

/** The types of results that the SDK names differently. */
const WIRE_TYPES = { function_call_result: "function_call_output", computer_call_result: "computer_call_output" };
const SDK_TYPES = Object.fromEntries(Object.entries(WIRE_TYPES).map(([sdk, wire]) => [wire, sdk]));
/** An id that the SDK makes up and does not send. */
const FAKE_ID = "FAKE_ID";
const MEDIA_URL = "https://media.invalid/";

const isText = (part) => part?.type === "input_text" || part?.type === "output_text";

/** The wire form of items. Media are shown as addresses, by which they are found again wherever a repair puts them. */
class Mirror {
  #media = [];
  #isStored;

  /** Items that are stored have their media as they are. */
  constructor({ isStored = false } = {}) {
    this.#isStored = isStored;
  }

  wire(item) {
    const make = MAKE[item.type ?? "message"];
    if (item.type === undefined && item.role === undefined) return { ...item };
    if (item.type === "unknown") return { ...item.providerData, ...(item.id ? { id: item.id } : {}) };
    if (!make) return { ...item };
    return defined(make(item, this));
  }

  /** The parts of a user's message or a result. */
  given(parts) {
    return parts.map((part) => (isText(part) ? { type: "input_text", text: part.text } : this.#shown(part)));
  }

  output(output) {
    if (typeof output === "string") return output;
    if (Array.isArray(output)) return this.given(output);
    if (output?.type === "text") return output.text;
    return output === undefined ? "" : [this.#shown(output)];
  }

  #shown(part) {
    if (this.#isStored) return storedPart(part);
    this.#media.push(part);
    return { type: "input_image", image_url: `${MEDIA_URL}${this.#media.length - 1}` };
  }

  /** The part of the SDK for a part of a repaired item. */
  part(wire) {
    if (wire.type === "input_image" && String(wire.image_url).startsWith(MEDIA_URL)) return this.#media[Number(wire.image_url.slice(MEDIA_URL.length))];
    return isText(wire) ? { type: wire.type, text: wire.text } : wire;
  }

  parts(wires, originals) {
    return wires.map((wire, index) => {
      const old = originals[index];
      if (!isText(wire) || !isText(old)) return this.part(wire);
      return old.text === wire.text ? old : { ...old, text: wire.text };
    });
  }
}

function storedPart(part) {
  const { image, file } = part;
  if (typeof image === "string") return { type: "input_image", image_url: image };
  if (image?.id) return { type: "input_image", file_id: image.id };
  if (file?.id) return { type: "input_file", file_id: file.id };
  if (file?.url) return { type: "input_file", file_url: file.url };
  return { type: "input_text", text: `(${part.type})` };
}

const paired = ({ type, id, callId, caller }) => ({
  type: WIRE_TYPES[type] ?? type,
  id: id === FAKE_ID ? undefined : id,
  call_id: callId,
  caller: caller?.type === "program" ? { type: "program", caller_id: caller.callerId } : caller,
});
const searched = (item) => ({ ...item, call_id: item.callId ?? item.call_id, callId: undefined });
const data = (item, ...names) => names.map((name) => item.providerData?.[name]).find((value) => value !== undefined);

const MAKE = {
  message: (item, mirror) => ({ type: "message", role: item.role, content: contentOf(item, mirror) }),
  reasoning: (item) => ({
    type: "reasoning",
    id: item.id,
    summary: (item.content ?? []).map(({ text }) => ({ type: "summary_text", text })),
    encrypted_content: data(item, "encryptedContent", "encrypted_content"),
  }),
  function_call: (item) => ({ ...paired(item), name: item.name, arguments: item.arguments, status: item.status }),
  function_call_result: (item, mirror) => ({ ...paired(item), output: mirror.output(item.output) }),
  computer_call: (item) => ({
    ...paired(item),
    action: item.action,
    actions: item.actions,
    status: item.status,
    pending_safety_checks: data(item, "pendingSafetyChecks", "pending_safety_checks"),
  }),
  computer_call_result: (item) => ({
    ...paired(item),
    output: { type: "computer_screenshot", image_url: item.output?.data },
    acknowledged_safety_checks: data(item, "acknowledgedSafetyChecks", "acknowledged_safety_checks"),
  }),
  shell_call: (item) => ({
    ...paired(item),
    action: { commands: item.action?.commands, timeout_ms: item.action?.timeoutMs ?? null, max_output_length: item.action?.maxOutputLength ?? null },
    environment: data(item, "environment"),
    status: item.status,
  }),
  shell_call_output: (item) => ({ ...paired(item), output: (item.output ?? []).map(commandOf), max_output_length: item.maxOutputLength }),
  apply_patch_call: (item) => ({ ...paired(item), operation: item.operation, status: item.status }),
  apply_patch_call_output: (item) => ({ ...paired(item), status: item.status, output: item.output }),
  program: (item) => ({ ...paired(item), code: item.code, fingerprint: item.fingerprint }),
  program_output: (item) => ({ ...paired(item), result: item.output, status: item.status }),
  tool_search_call: searched,
  tool_search_output: searched,
};

const commandOf = ({ stdout, stderr, outcome }) => ({
  stdout,
  stderr,
  outcome: outcome?.type === "timeout" ? { type: "timeout" } : { type: "exit", exit_code: outcome?.exitCode ?? 0 },
});

function contentOf(item, mirror) {
  if (typeof item.content === "string") return item.content;
  if (item.role !== "assistant") return mirror.given(item.content ?? []);
  return (item.content ?? []).map((part) => {
    if (part.type === "refusal") return { type: "refusal", refusal: part.refusal };
    return { type: "output_text", text: part.text ?? `(${part.type})` };
  });
}

const defined = (wire) => Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== undefined));

/** The item of a repaired wire item. `names` has the names of the functions by the ids of their calls. */
function itemOf(wire, original, mirror, names) {
  const type = SDK_TYPES[wire.type] ?? wire.type ?? "message";
  const isOld = original !== undefined && (original.type ?? "message") === type;
  if (type === "message") return message(wire, isOld ? original : undefined, mirror);
  if (isOld) return mended(wire, original, mirror);
  const made = RESULTS[type];
  if (made) return { type, callId: wire.call_id, ...made(wire, mirror, names) };
  return original ?? { type: "unknown", providerData: wire };
}

function message(wire, original, mirror) {
  const old = original?.content;
  if (typeof wire.content === "string") return { ...original, role: wire.role, content: wire.content };
  if (wire.role !== "assistant") return { ...original, role: wire.role, content: mirror.parts(wire.content, Array.isArray(old) ? old : []) };
  const shown = Array.isArray(old) ? contentOf(original, mirror) : [];
  const content = wire.content.map((part, index) => {
    // Audio and images of the model are shown by their names.
    const same = shown.findIndex((one) => one.type === part.type && one.text === part.text && one.refusal === part.refusal);
    if (same >= 0) return old[same];
    return shown.length === wire.content.length && isText(part) && isText(old[index]) ? { ...old[index], text: part.text } : part;
  });
  return { status: "completed", ...original, role: wire.role, content };
}

/** An item with what a repair may change in it: its ids, the name and the arguments of a function, the text of a result. */
function mended(wire, original, mirror) {
  const before = mirror.wire(original);
  const item = { ...original };
  if (wire.call_id !== before.call_id) item.callId = wire.call_id;
  if (wire.id === undefined && before.id !== undefined) delete item.id;
  else if (wire.id !== before.id) item.id = wire.id;
  if (wire.type === "function_call") Object.assign(item, { name: wire.name, arguments: wire.arguments });
  if (wire.status !== before.status && item.status !== undefined) item.status = wire.status;
  const isOutput = JSON.stringify(wire.output) !== JSON.stringify(before.output);
  if (isOutput && wire.type === "function_call_output") item.output = outputOf(wire.output, original.output, mirror);
  else if (isOutput && RESULTS[item.type]) item.output = RESULTS[item.type](wire, mirror, new Map()).output;
  return item;
}

function outputOf(output, original, mirror) {
  if (Array.isArray(output)) return Array.isArray(original) ? mirror.parts(output, original) : original;
  return original?.type === "text" ? { ...original, text: output } : output;
}

/** Results that a repair makes. */
const RESULTS = {
  function_call_result: (wire, mirror, names) => ({
    name: names.get(wire.call_id) ?? "unknown",
    status: "completed",
    output: Array.isArray(wire.output) ? mirror.parts(wire.output, []) : { type: "text", text: wire.output },
  }),
  computer_call_result: ({ output, acknowledged_safety_checks: checks }) => ({
    output: { type: "computer_screenshot", data: output?.image_url },
    ...(checks ? { providerData: { acknowledged_safety_checks: checks } } : {}),
  }),
  shell_call_output: ({ output }) => ({
    output: (output ?? []).map(({ outcome, ...said }) => ({
      ...said,
      outcome: outcome?.type === "timeout" ? { type: "timeout" } : { type: "exit", exitCode: outcome?.exit_code ?? null },
    })),
  }),
  apply_patch_call_output: ({ status, output }) => ({ status: status ?? "failed", output }),
};

/** The calls that a client answers, and the types of their results. */
const ANSWERED_BY = {
  function_call: "function_call_result",
  computer_call: "computer_call_result",
  shell_call: "shell_call_output",
  apply_patch_call: "apply_patch_call_output",
};
const ANSWERS = new Set(Object.values(ANSWERED_BY));

/** Gives each call an id of its own: the SDK drops one of two items with the same id. */
function withOwnIds(items) {
  const taken = new Set(items.map((item) => item.callId));
  const seen = new Set();
  const waiting = new Map();
  const renamed = items.map((item) => {
    if (ANSWERED_BY[item.type]) {
      let id = item.callId;
      for (let count = 2; seen.has(id) || (id !== item.callId && taken.has(id)); count += 1) id = `${item.callId}_${count}`;
      seen.add(id);
      const key = `${ANSWERED_BY[item.type]} ${item.callId}`;
      waiting.set(key, [...(waiting.get(key) ?? []), id]);
      return id === item.callId ? item : { ...item, callId: id };
    }
    if (!ANSWERS.has(item.type)) return item;
    const id = waiting.get(`${item.type} ${item.callId}`)?.shift() ?? item.callId;
    return id === item.callId ? item : { ...item, callId: id };
  });
  return renamed.every((item, index) => item === items[index]) ? items : renamed;
}

/** Whether an item is from a user or a program: neither from the model nor a result. */
const isGiven = ({ type, role }) => (type ?? "message") === "message" && role !== "assistant";

/**
 * Whether a list holds the conversation from its start, as far as it shows it. Where the provider keeps the conversation, the
 * SDK gives only what is new: results, and what users say behind them. Earlier turns are items of the model, and a message
 * before a result.
 */
function isWhole(items) {
  const first = items.findIndex(({ type }) => ANSWERS.has(type) || type?.endsWith("_output"));
  return first < 0 || items.slice(0, first).some(isGiven) || items.some((item) => !isGiven(item) && !ANSWERS.has(item.type) && !item.type?.endsWith("_output"));
}

/**
 * Puts each result right behind its call, and behind the calls and results beside it. The Responses API takes a result
 * anywhere later, and Chat Completions, which the SDK can write from the same items, does not. What one response holds stays
 * in its order unless the model is known to ask Chat Completions (`isChat`).
 */
function withResultsBehind(items, isChat) {
  const list = [];
  const calls = new Map();
  let isSame = true;
  for (const item of items) {
    const at = ANSWERS.has(item.type) ? list.indexOf(calls.get(`${item.type} ${item.callId}`)) : -1;
    const isApart = at >= 0 && (isChat || list.slice(at).some(isGiven));
    const place = isApart ? behind(list, at) : list.length;
    isSame &&= place === list.length;
    list.splice(place, 0, item);
    if (ANSWERED_BY[item.type]) calls.set(`${ANSWERED_BY[item.type]} ${item.callId}`, item);
  }
  return isSame ? items : list;
}

/** The place behind the calls and results that follow a call. Reasoning between them stays with the next item. */
function behind(list, at) {
  let end = at + 1;
  for (let next = end; next < list.length; next += 1) {
    const { type } = list[next];
    if (ANSWERED_BY[type] || ANSWERS.has(type)) end = next + 1;
    else if (type !== "reasoning") return end;
  }
  return list.length;
}

module.exports = { Mirror, isWhole, itemOf, withOwnIds, withResultsBehind };
