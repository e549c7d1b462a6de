"use strict";
// Messages of a framework, repaired through a list of Chat Completions messages that mirrors them.

const { repair } = require("./bodies.cjs");

/**
 * Repairs messages of a framework. `lens.show(message)` gives the wire messages that mirror one message; each gets an
 * index by which the message is found again. `lens.result(wire, original)` makes the message of a result, and
 * `lens.calls(message, wire)` gives a message whose calls or text changed. Returns the same list where nothing changed.
 */
function repairThrough(lens, messages, options = {}) {
  const wires = [];
  const owners = [];
  messages.forEach((message, index) => {
    for (const [part, wire] of lens.show(message).entries()) {
      wires.push(wire);
      owners.push({ index, part });
    }
  });
  if (wires.length === 0) return messages;
  const repaired = repair(wires, { dialect: "openai_chat", kept: true, ...options });
  if (!repaired.changed) return messages;
  const { origins } = repaired;
  const parts = repaired.body.map((wire, at) => {
    const owner = origins[at] === null || origins[at] === undefined ? undefined : owners[origins[at]];
    const isSame = owner !== undefined && wire === wires[origins[at]];
    return { wire, owner, original: owner && messages[owner.index], isSame };
  });
  return lens.join(parts, messages);
}

/** Text that a chat message can hold. */
const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

/** The chat message of tool calls. */
const callsOf = (text, calls) => ({
  role: "assistant",
  content: text || null,
  tool_calls: calls.map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) },
  })),
});

/** The input of a call of a chat message. */
function inputOf(call) {
  try {
    return JSON.parse(call.function.arguments);
  } catch {
    return {};
  }
}

module.exports = { callsOf, inputOf, repairThrough, textOf };
