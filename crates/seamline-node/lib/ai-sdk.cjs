"use strict";
// The Vercel AI SDK: model messages, UI messages, `prepareStep` and middleware.

const { adapting } = require("./failing.cjs");
const { forModel } = require("./providers.cjs");
const { MEDIA, OWN, callsOf, inputOf, joined, patched, repairThrough, saidIn, textOf } = require("./lens.cjs");

const parts = (message) => (Array.isArray(message.content) ? message.content : []);
const isClientCall = (part) => part.type === "tool-call" && !part.providerExecuted;
const isResult = (part) => part.type === "tool-result";
const isText = (part) => part.type === "text";
const TEXTS = {
  read: (part) => (isText(part) ? part.text : undefined),
  write: (part, text) => ({ ...part, text }),
  make: (text) => ({ type: "text", text }),
};
const said = (message) => (typeof message.content === "string" ? message.content : joined(parts(message).map(TEXTS.read)));

/** The output of a result, and its content where it is a list of texts and media. */
const outputOf = (part) => part.output?.value ?? part.output ?? part.result;
const listIn = (part) => (part.output?.type === "content" && Array.isArray(part.output.value) ? part.output.value : undefined);

function shownOutput(part) {
  const list = listIn(part);
  return list ? joined(list.map(TEXTS.read)) || MEDIA : textOf(outputOf(part));
}

/**
 * The calls that wait for the user's approval, as parts: a missing result is not damage there. A result ends the wait, and so
 * does a later message of the user.
 */
function pendingApprovals(messages) {
  const calls = new Map();
  const asked = new Map();
  for (const message of messages) {
    if (message.role === "user") asked.clear();
    for (const part of parts(message)) {
      if (isClientCall(part)) calls.set(part.toolCallId, part);
      else if (part.type === "tool-approval-request") asked.set(part.toolCallId, calls.get(part.toolCallId));
      else if (part.type === "tool-result") asked.delete(part.toolCallId);
    }
  }
  return new Set(asked.values());
}

function lens(messages) {
  const pending = pendingApprovals(messages);
  const answered = (part) => ({
    role: "tool",
    tool_call_id: part.toolCallId,
    content: shownOutput(part),
  });
  return {
    show(message) {
      if (message.role === "tool") return parts(message).filter(isResult).map(answered);
      if (message.role === "assistant") {
        const calls = parts(message).filter(isClientCall);
        if (calls.length === 0) return [{ role: "assistant", content: said(message) || MEDIA }];
        return [callsOf(said(message), calls.map((part) => ({ id: part.toolCallId, name: part.toolName, input: part.input ?? part.args })))];
      }
      return [{ role: message.role, content: said(message) || MEDIA }];
    },
    awaited: (message) => parts(message).filter((part) => pending.has(part)).map((part) => part.toolCallId),
    join(repaired, before) {
      const names = new Map();
      for (const part of before.flatMap(parts)) if (part.toolName) names.set(part.toolCallId, part.toolName);
      const list = [];
      const places = new Map();
      const shownOf = new Map(before.map((message) => [message, message.role === "tool" ? parts(message).filter(isResult) : []]));
      for (const entry of repaired) {
        const { wire, owner, original, isSame } = entry;
        for (const call of wire.tool_calls ?? []) names.set(call.id, call.function.name);
        const old = original?.role === "tool" ? shownOf.get(original)[owner.part] : undefined;
        if (wire.role !== "tool") {
          const message = isSame ? original : changed(entry, old);
          places.set(original, message);
          list.push(message);
          continue;
        }
        const part = old && isSame ? old : toolResult(wire, old, names);
        const last = list.at(-1);
        // The results of one message stay in one message.
        if (last?.role === "tool" && last.of === (original ?? last.of)) last.content.push(part);
        else list.push({ role: "tool", content: [part], of: original });
      }
      return withOthers(list, before, { shownOf, places });
    },
  };
}

/**
 * The repaired messages with everything that has no wire form: the approvals of tool messages, and whole messages. A tool
 * message whose results are those of an old one is the old one.
 */
function withOthers(list, before, { shownOf, places }) {
  const keepers = new Map();
  for (const message of list) if (message.of?.role === "tool" && !keepers.has(message.of)) keepers.set(message.of, message);
  const done = list.map((message) => finished(message, shownOf, keepers.get(message.of) === message));
  list.forEach((message, at) => message.of && places.set(message.of, done[at]));
  const unseen = new Map();
  for (const message of before) {
    const isShown = message.role !== "tool" || shownOf.get(message).length > 0;
    if (isShown && (message.role !== "tool" || keepers.has(message))) continue;
    const others = message.role === "tool" ? parts(message).filter((part) => !isResult(part)) : [];
    if (!isShown) unseen.set(message, message);
    else if (others.length > 0) unseen.set(message, { ...message, content: others });
  }
  return withUnseen(done, before, unseen, places);
}

/** A message of results with the other parts of the message that they were in; `isKeeper` where it holds these parts. */
function finished(message, shownOf, isKeeper) {
  if (!("of" in message)) return message;
  const { of: original, ...rest } = message;
  if (original?.role !== "tool") return rest;
  const old = shownOf.get(original);
  const isSame = old.length === rest.content.length && old.every((part, index) => part === rest.content[index]);
  if (isSame) return original;
  const results = [...rest.content];
  const content = isKeeper ? parts(original).flatMap((part) => (isResult(part) ? results.splice(0, 1) : [part])) : [];
  return { ...original, ...rest, content: [...content, ...results] };
}

/** Puts messages that have no wire form back behind the message that they followed. */
function withUnseen(list, before, unseen, places) {
  before.forEach((message, index) => {
    if (!unseen.has(message)) return;
    let at = -1;
    for (let back = index - 1; back >= 0 && at < 0; back -= 1) {
      const former = before[back];
      at = list.lastIndexOf(unseen.get(former) ?? places.get(former) ?? former);
    }
    list.splice(at + 1, 0, unseen.get(message));
  });
  return list;
}

function changed({ wire, original }, result) {
  const after = saidIn(wire);
  const calls = (wire.tool_calls ?? []).map((call) => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.function.name,
    input: inputOf(call),
  }));
  if (!original || original.role !== wire.role) {
    // A user's message has no place for the media of a result but its text.
    const unsaid = result ? (listIn(result) ?? []).filter((part) => !isText(part)).map((part) => TEXTS.make(textOf(part))) : [];
    return { role: wire.role, content: wire.role === "system" ? after : [...texts(after), ...unsaid, ...calls] };
  }
  if (typeof original.content === "string" && calls.length === 0) return { ...original, content: after };
  const old = typeof original.content === "string" ? texts(original.content) : parts(original);
  const mended = patched(old, after, TEXTS);
  if (original.role !== "assistant") return { ...original, content: mended };
  // Reasoning, files and calls of the provider stay where they are; only calls of the client are exchanged.
  let next = 0;
  const renamed = new Map();
  const content = mended.flatMap((part) => {
    if (part.type === "tool-approval-request" && renamed.has(part.toolCallId)) return [{ ...part, toolCallId: renamed.get(part.toolCallId) }];
    if (!isClientCall(part)) return [part];
    const call = calls[next];
    next += 1;
    if (!call) return [];
    if (call.toolCallId !== part.toolCallId) renamed.set(part.toolCallId, call.toolCallId);
    const isSame = call.toolCallId === part.toolCallId && call.toolName === part.toolName && JSON.stringify(call.input) === JSON.stringify(part.input);
    return [isSame ? part : { ...part, ...call }];
  });
  content.push(...calls.slice(next));
  return { ...original, content: content.length ? content : texts(after) };
}

/** A text as parts, which both model messages and prompts take. */
const texts = (text) => (text ? [TEXTS.make(text)] : []);

function toolResult(wire, old, names) {
  const value = saidIn(wire);
  const made = {
    type: "tool-result",
    toolCallId: wire.tool_call_id,
    toolName: names.get(wire.tool_call_id) ?? old?.toolName ?? "unknown",
  };
  if (!old) return { ...made, output: { type: "error-text", value } };
  const result = { ...old, ...made };
  if (value === shownOutput(old)) return result;
  const list = listIn(old);
  if (list) return { ...result, output: { ...old.output, value: patched(list, value, TEXTS) } };
  if (typeof old.output?.value === "string") return { ...result, output: { ...old.output, value } };
  return typeof old.result === "string" ? { ...result, result: value } : result;
}

/** Repairs model messages: the same list where nothing needs a repair. */
function repairModelMessages(messages, options) {
  return repairThrough(() => lens(messages), messages, options);
}

/** The options of a request whose earlier messages the provider may keep. An option that is given counts. */
function managing(providerOptions, options) {
  const isManaged = Object.values(providerOptions ?? {}).some((given) => given?.previousResponseId || given?.conversation);
  return isManaged ? { serverManaged: true, ...options } : options;
}

/** `prepareStep` that repairs the messages of every step; wraps another one. */
function repairStep(inner, options) {
  if (inner !== undefined && typeof inner !== "function") [inner, options] = [undefined, inner];
  adapting("a step", options, OWN);
  return async function prepareStep(step) {
    const prepared = (await inner?.(step)) ?? {};
    const model = prepared.model ?? step.model;
    const managed = managing(prepared.providerOptions, options);
    return { ...prepared, messages: repairModelMessages(prepared.messages ?? step.messages, forModel(model, managed)) };
  };
}

/** Middleware for `wrapLanguageModel`. The SDK itself rejects a missing result before it, so use `repairStep` there. */
function seamlineMiddleware(options) {
  adapting("a prompt", options, OWN);
  return {
    specificationVersion: "v4",
    transformParams: async ({ params, model }) => {
      const prompt = repairModelMessages(params.prompt, forModel(model, managing(params.providerOptions, options)));
      return prompt === params.prompt ? params : { ...params, prompt };
    },
  };
}

const OPEN = new Set(["input-streaming", "input-available"]);
const UNKNOWN =
  "[synthetic] [outcome unknown] The tool call was interrupted before its result was recorded. It may have happened fully, partly, or not at all.";

/** Repairs UI messages: tool parts without a result, except those of the last message, get one that says so. */
function repairUIMessages(messages, { text = UNKNOWN, ...options } = {}) {
  return adapting("a list of UI messages", options).guarded(messages, () => closed(messages, text));
}

function closed(messages, text) {
  const last = messages.length - 1;
  const isOpen = (part) => (part.type === "dynamic-tool" || part.type?.startsWith("tool-")) && OPEN.has(part.state);
  const repaired = messages.map((message, index) => {
    if (message.role !== "assistant" || index === last || !message.parts?.some(isOpen)) return message;
    const mend = (part) => (isOpen(part) ? { ...part, state: "output-error", input: part.input ?? {}, errorText: text } : part);
    return { ...message, parts: message.parts.map(mend) };
  });
  return repaired.every((message, index) => message === messages[index]) ? messages : repaired;
}

module.exports = { repairModelMessages, repairStep, repairUIMessages, seamlineMiddleware };
