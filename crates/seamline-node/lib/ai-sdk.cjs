"use strict";
// The Vercel AI SDK: model messages, UI messages, `prepareStep` and middleware.

const { adapting } = require("./failing.cjs");
const { forModel } = require("./providers.cjs");
const { MEDIA, callsOf, inputOf, joined, patched, repairThrough, saidIn, textOf } = require("./lens.cjs");

const parts = (message) => (Array.isArray(message.content) ? message.content : []);
const isClientCall = (part) => part.type === "tool-call" && !part.providerExecuted;
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

/** The calls that wait for the user's approval: a missing result is not damage there. A later user's message ends the wait. */
function pendingApprovals(messages) {
  const asked = new Map();
  for (const message of messages) {
    if (message.role === "user") asked.clear();
    for (const part of parts(message)) if (part.type === "tool-approval-request") asked.set(part.approvalId, part.toolCallId);
  }
  return new Set(asked.values());
}

function lens(messages) {
  const pending = pendingApprovals(messages);
  const isShown = (part) => isClientCall(part) && !pending.has(part.toolCallId);
  const isResult = (part) => part.type === "tool-result" && !pending.has(part.toolCallId);
  const answered = (part) => ({
    role: "tool",
    tool_call_id: part.toolCallId,
    content: shownOutput(part),
  });
  return {
    show(message) {
      if (message.role === "tool") return parts(message).filter(isResult).map(answered);
      if (message.role === "assistant") {
        const calls = parts(message).filter(isShown);
        if (calls.length === 0) return [{ role: "assistant", content: said(message) || MEDIA }];
        return [callsOf(said(message), calls.map((part) => ({ id: part.toolCallId, name: part.toolName, input: part.input ?? part.args })))];
      }
      return [{ role: message.role, content: said(message) || MEDIA }];
    },
    join(repaired, before) {
      const names = new Map();
      for (const part of before.flatMap(parts)) if (part.toolName) names.set(part.toolCallId, part.toolName);
      const list = [];
      const shownOf = new Map(before.map((message) => [message, parts(message).filter(isResult)]));
      for (const entry of repaired) {
        const { wire, owner, original, isSame } = entry;
        for (const call of wire.tool_calls ?? []) names.set(call.id, call.function.name);
        const old = original?.role === "tool" ? shownOf.get(original)[owner.part] : undefined;
        if (wire.role !== "tool") {
          list.push(isSame ? original : changed(entry, old, isShown));
          continue;
        }
        const part = old && isSame ? old : toolResult(wire, old, names);
        const last = list.at(-1);
        // The results of one message stay in one message.
        if (last?.role === "tool" && last.of === (original ?? last.of)) last.content.push(part);
        else list.push({ role: "tool", content: [part], of: original });
      }
      const done = list.map((message) => finished(message, shownOf));
      return withUnseen(done, before, (message) => lens(before).show(message).length === 0);
    },
  };
}

/** A tool message whose results are those of an old one is the old one. */
function finished(message, shownOf) {
  if (!("of" in message)) return message;
  const { of: original, ...rest } = message;
  const old = original && shownOf.get(original);
  const isSame = old && old.length === rest.content.length && old.every((part, index) => part === rest.content[index]);
  if (isSame) return original;
  const others = original?.role === "tool" ? parts(original).filter((part) => part.type !== "tool-result") : [];
  return { ...(original?.role === "tool" ? original : {}), ...rest, content: [...rest.content, ...others] };
}

/** Puts messages that have no wire form back behind the message that they followed. */
function withUnseen(list, before, isUnseen) {
  before.forEach((message, index) => {
    if (!isUnseen(message)) return;
    let at = -1;
    for (let back = index - 1; back >= 0 && at < 0; back -= 1) at = list.indexOf(before[back]);
    list.splice(at + 1, 0, message);
  });
  return list;
}

function changed({ wire, original }, result, isShown) {
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
  const content = mended.flatMap((part) => {
    if (!isShown(part)) return [part];
    const call = calls[next];
    next += 1;
    if (!call) return [];
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

/** `prepareStep` that repairs the messages of every step; wraps another one. */
function repairStep(inner, options) {
  if (inner !== undefined && typeof inner !== "function") [inner, options] = [undefined, inner];
  adapting("a step", options);
  return async function prepareStep(step) {
    const prepared = (await inner?.(step)) ?? {};
    const model = prepared.model ?? step.model;
    return { ...prepared, messages: repairModelMessages(prepared.messages ?? step.messages, forModel(model, options)) };
  };
}

/** Middleware for `wrapLanguageModel`. The SDK itself rejects a missing result before it, so use `repairStep` there. */
function seamlineMiddleware(options) {
  adapting("a prompt", options);
  return {
    specificationVersion: "v4",
    transformParams: async ({ params, model }) => {
      const prompt = repairModelMessages(params.prompt, forModel(model, options));
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
