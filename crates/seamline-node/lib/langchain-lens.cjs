"use strict";
// Messages of LangChain.js, by the classes of the installed version.

const { callsOf, inputOf, repairThrough, textOf } = require("./lens.cjs");

const kindOf = (message) => message.getType?.() ?? message._getType?.() ?? message.type ?? message.role;
const contentOf = (message) => {
  if (typeof message.content === "string") return message.content;
  const texts = (message.content ?? []).map((block) => (typeof block === "string" ? block : (block.text ?? "")));
  return texts.join("");
};

/** The calls of an AI message; those with arguments that cannot be read, too. */
const callsIn = (message) => [
  ...(message.tool_calls ?? []).map(({ id, name, args }) => ({ id, name, input: args })),
  ...(message.invalid_tool_calls ?? []).map(({ id, name, args }) => ({ id, name, input: args ?? "" })),
];

function lens({ AIMessage, ToolMessage, HumanMessage }) {
  return {
    show(message) {
      const kind = kindOf(message);
      if (kind === "tool") return [{ role: "tool", tool_call_id: message.tool_call_id, content: contentOf(message) || textOf(message.content) }];
      if (kind === "ai" || kind === "assistant") {
        const calls = callsIn(message);
        return [calls.length ? callsOf(contentOf(message), calls) : { role: "assistant", content: contentOf(message) || "(media)" }];
      }
      return [{ role: kind === "system" ? "system" : "user", content: contentOf(message) || "(media)" }];
    },
    join(parts) {
      const names = new Map();
      return parts.map(({ wire, original, isSame }) => {
        for (const call of wire.tool_calls ?? []) names.set(call.id, call.function.name);
        if (isSame) return original;
        if (wire.role === "tool") {
          const fields = { tool_call_id: wire.tool_call_id, name: names.get(wire.tool_call_id) };
          const isOld = original && kindOf(original) === "tool";
          return isOld
            ? new ToolMessage({ ...original.lc_kwargs, ...fields, content: original.content, id: original.id })
            : new ToolMessage({ ...fields, content: textOf(wire.content), status: "error" });
        }
        if (wire.role === "assistant") {
          const toolCalls = (wire.tool_calls ?? []).map((call) => ({ type: "tool_call", id: call.id, name: call.function.name, args: inputOf(call) }));
          const old = original ? { ...original.lc_kwargs, content: original.content, id: original.id } : { content: textOf(wire.content) };
          const { tool_calls: _, ...kwargs } = old.additional_kwargs ?? {};
          return new AIMessage({ ...old, additional_kwargs: kwargs, tool_calls: toolCalls, invalid_tool_calls: [] });
        }
        return original && wire.role !== "user" ? original : new HumanMessage({ content: textOf(wire.content) });
      });
    },
  };
}

/** The adapters for the classes of `@langchain/core/messages`. */
function adapters(core) {
  const repairMessages = (messages, options) => repairThrough(lens(core), messages, options);
  const seamlineMiddlewareOf = (createMiddleware, options) =>
    createMiddleware({
      name: "Seamline",
      wrapModelCall: (request, handler) => handler({ ...request, messages: repairMessages(request.messages, options) }),
    });
  return { repairMessages, seamlineMiddlewareOf };
}

module.exports = { adapters };
