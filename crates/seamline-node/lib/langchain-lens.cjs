"use strict";
// Messages of LangChain.js, by the classes of the installed version.

const { adapting } = require("./failing.cjs");
const { forModel } = require("./providers.cjs");
const { MEDIA, OWN, callsOf, inputOf, joined, patched, repairThrough, saidIn } = require("./lens.cjs");

const kindOf = (message) => message.getType?.() ?? message._getType?.() ?? message.type ?? message.role;
const isAssistant = (message) => ["ai", "assistant"].includes(kindOf(message));
const blocksOf = (message) => (typeof message.content === "string" ? [message.content] : (message.content ?? []));
const TEXTS = {
  read: (block) => (typeof block === "string" ? block : block.text),
  write: (block, text) => (typeof block === "string" ? text : { ...block, text }),
  make: (text) => ({ type: "text", text }),
};
const contentOf = (message) => joined(blocksOf(message).map(TEXTS.read));
const mediaOf = (message) => blocksOf(message).filter((block) => TEXTS.read(block) === undefined);

/** The calls of an AI message; those with arguments that cannot be read, too. */
const callsIn = (message) => [
  ...(message.tool_calls ?? []).map(({ id, name, args }) => ({ id, name, input: args })),
  ...(message.invalid_tool_calls ?? []).map(({ id, name, args }) => ({ id, name, input: args ?? "" })),
];

/** Whether a message has calls with arguments that cannot be read. LangChain does not send them beside other calls. */
const hasInvalid = (message) => isAssistant(message) && message.invalid_tool_calls?.length > 0;

const CALL_BLOCKS = new Set(["tool_use", "tool_call"]);

/** The content whose blocks of calls have the new ids, by their order, and without the blocks of calls that are gone. */
function withCalls(content, original, toolCalls) {
  if (!Array.isArray(content)) return content;
  const before = callsIn(original).map(({ id }) => id);
  const ids = new Set(toolCalls.map(({ id }) => id));
  const used = new Set();
  return content.flatMap((block) => {
    if (!CALL_BLOCKS.has(block?.type)) return [block];
    const at = before.length === toolCalls.length ? before.findIndex((id, index) => id === block.id && !used.has(index)) : -1;
    used.add(at);
    const call = toolCalls[at] ?? toolCalls.find(({ id }) => id === block.id);
    if (!ids.has(call?.id)) return [];
    // The input of a block can be a text that was cut.
    const input = typeof block.input === "string" ? { input: call.args } : {};
    return call.id === block.id && typeof block.input !== "string" ? [block] : [{ ...block, id: call.id, ...input }];
  });
}

/** The content of a message with a repaired text. Media stay where they are. */
const mended = (message, after) => (typeof message.content === "string" ? after : patched(blocksOf(message), after, TEXTS));

/** A message of the same class with other fields. */
const rewritten = (message, fields) =>
  message.lc_kwargs ? new message.constructor({ ...message.lc_kwargs, id: message.id, ...fields }) : { ...message, ...fields };

function lens({ AIMessage, ToolMessage, HumanMessage }) {
  const toolMessage = (wire, original, names) => {
    const fields = { tool_call_id: wire.tool_call_id, name: names.get(wire.tool_call_id) };
    const after = saidIn(wire);
    if (!original || kindOf(original) !== "tool") return new ToolMessage({ ...fields, content: after, status: "error" });
    const content = contentOf(original) && after !== contentOf(original) ? mended(original, after) : original.content;
    return rewritten(original, { ...fields, content });
  };
  const aiMessage = (wire, original) => {
    const toolCalls = (wire.tool_calls ?? []).map((call) => ({ type: "tool_call", id: call.id, name: call.function.name, args: inputOf(call) }));
    const after = saidIn(wire);
    const isText = original && after !== (contentOf(original) || (callsIn(original).length ? "" : MEDIA));
    const old = original
      ? { ...original.lc_kwargs, content: isText ? mended(original, after) : original.content, id: original.id }
      : { content: after };
    if (original) old.content = withCalls(old.content, original, toolCalls);
    const { tool_calls: _, ...kwargs } = old.additional_kwargs ?? {};
    return new AIMessage({ ...old, additional_kwargs: kwargs, tool_calls: toolCalls, invalid_tool_calls: [] });
  };
  const said = ({ wire, original }) => {
    const after = saidIn(wire);
    if (original && kindOf(original) !== "tool" && !isAssistant(original)) return rewritten(original, { content: mended(original, after) });
    const unsaid = original ? mediaOf(original) : [];
    return new HumanMessage({ content: unsaid.length ? [TEXTS.make(after), ...unsaid] : after });
  };
  return {
    hasForm: (messages) => messages.some(hasInvalid),
    show(message) {
      const kind = kindOf(message);
      if (kind === "tool") return [{ role: "tool", tool_call_id: message.tool_call_id, content: contentOf(message) || (mediaOf(message).length ? MEDIA : "") }];
      if (isAssistant(message)) {
        const calls = callsIn(message);
        return [calls.length ? callsOf(contentOf(message), calls) : { role: "assistant", content: contentOf(message) || MEDIA }];
      }
      return [{ role: kind === "system" ? "system" : "user", content: contentOf(message) || MEDIA }];
    },
    join(entries) {
      const names = new Map();
      return entries.map((entry) => {
        const { wire, original, isSame } = entry;
        for (const call of wire.tool_calls ?? []) names.set(call.id, call.function.name);
        if (isSame && !hasInvalid(original)) return original;
        if (wire.role === "tool") return toolMessage(wire, original, names);
        return wire.role === "assistant" && (!original || isAssistant(original)) ? aiMessage(wire, original) : said(entry);
      });
    },
  };
}

/** The options of a call whose earlier messages the provider may keep. An option that is given counts. */
function managing({ model, modelSettings }, options) {
  const isManaged = [modelSettings, model?.modelKwargs].some((given) => given?.previous_response_id || given?.conversation);
  return isManaged ? { serverManaged: true, ...options } : options;
}

/** The adapters for the classes of `@langchain/core/messages`. */
function adapters(core) {
  const repairMessages = (messages, options) => repairThrough(() => lens(core), messages, options);
  const seamlineMiddlewareOf = (createMiddleware, options) => {
    adapting("a model call", options, OWN);
    return createMiddleware({
      name: "Seamline",
      wrapModelCall: (request, handler) => handler({ ...request, messages: repairMessages(request.messages, forModel(request.model, managing(request, options))) }),
    });
  };
  return { repairMessages, seamlineMiddlewareOf };
}

module.exports = { adapters };
