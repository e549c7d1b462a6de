"use strict";
// Messages of a framework, repaired through a list of Chat Completions messages that mirrors them.

const { repair } = require("./bodies.cjs");
const { adapting } = require("./failing.cjs");
const { withTakenIds } = require("./providers.cjs");

/** The text that stands for content that a chat message cannot mirror. */
const MEDIA = "(media)";

/**
 * Repairs messages of a framework, or gives the same list where nothing changes and where the repair fails.
 *
 * `makeLens` makes the lens. `lens.show(message)` gives the chat messages that mirror one message. `lens.join(entries, messages)` makes the new list:
 * an entry has the repaired chat message (`wire`), the message that it mirrors (`original`, `owner`), and whether it is
 * unchanged (`isSame`). `lens.hasForm(messages)` says whether messages need another form where the chat messages need none.
 * `lens.awaited(message)` gives the ids of calls whose results are not due yet. No provider of this dialect wants messages
 * joined, so each entry mirrors at most one.
 *
 * The option `serverManaged` says that the provider keeps the earlier messages, so that calls of results can be there.
 */
function repairThrough(makeLens, messages, options) {
  const { guarded, repairing } = adapting("a conversation", options, OWN);
  return guarded(messages, () => mirrored(makeLens(), messages, repairing, options?.serverManaged === true));
}

/** The options that belong to adapters and not to a repair. */
const OWN = ["serverManaged"];

function mirrored(lens, messages, options, isManaged) {
  const wires = [];
  const owners = [];
  const called = new Set();
  // Calls and results that only the repair sees, in the places of those that the provider or the user still has.
  const add = (wire, owner) => {
    wires.push(wire);
    owners.push(owner);
  };
  messages.forEach((message, index) => {
    for (const [part, wire] of lens.show(message).entries()) {
      for (const { id } of wire.tool_calls ?? []) called.add(id);
      if (isManaged && wire.role === "tool" && !called.has(wire.tool_call_id)) add(elsewhere(wire.tool_call_id));
      add(wire, { index, part });
    }
    for (const id of lens.awaited?.(message) ?? []) add({ role: "tool", tool_call_id: id, content: AWAITED });
  });
  if (wires.length === 0) return messages;
  const repaired = repair(wires, { dialect: "openai_chat", kept: true, ...options });
  const sent = withTakenIds(repaired.body, options);
  const isForm = lens.hasForm?.(messages) ?? false;
  if (sent === wires && !isForm) return messages;
  const { origins } = repaired;
  const entries = sent.flatMap((wire, at) => {
    const from = repaired.changed ? (origins[at] ?? undefined) : at;
    const owner = from === undefined ? undefined : owners[from];
    if (from !== undefined && !owner) return [];
    return [{ wire, owner, original: owner && messages[owner.index], isSame: from !== undefined && wire === wires[from] }];
  });
  return lens.join(entries, messages);
}

const AWAITED = "(awaited)";
/** The call of a result, which the provider has. */
const elsewhere = (id) => ({ role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "elsewhere", arguments: "{}" } }] });

/** Text that a chat message can hold. */
const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

/** The texts of parts as one text. The line break between them keeps two halves of characters apart. */
const joined = (texts) => texts.filter(Boolean).join("\n");

/** The text of a repaired chat message. */
const saidIn = (wire) =>
  typeof wire.content === "string" ? wire.content : joined((wire.content ?? []).map((part) => part.text ?? part.refusal));

/** Divides a repaired text among the parts that its original had. Together they hold all of it. */
function divided(texts, after) {
  const before = joined(texts);
  const shared = Math.min(before.length, after.length);
  let head = 0;
  while (head < shared && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shared - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const placed = (at) => {
    if (at <= head) return at;
    return at >= before.length - tail ? at + after.length - before.length : Math.min(at, after.length - tail);
  };
  const last = texts.findLastIndex(Boolean);
  let from = 0;
  return texts.map((text, index) => {
    if (!text) return "";
    const [start, end] = [placed(from), placed(from + text.length)];
    from += text.length + 1;
    if (index === last) return after.slice(start);
    const next = placed(from);
    return after.slice(start, after.slice(end, next) === "\n" ? end : next);
  });
}

/**
 * The parts of a message with the repaired text in the places of the old one; the same list where the text is unchanged.
 * `read` gives the text of a part, `write` a part with another text, `make` a new part.
 */
function patched(parts, after, { read, write, make }) {
  const texts = parts.map((part) => read(part) ?? "");
  const before = joined(texts);
  if (after === before) return parts;
  if (before === "") {
    const added = after.startsWith(MEDIA) ? after.slice(MEDIA.length).trimStart() : after;
    return added ? [...parts, make(added)] : parts;
  }
  const fresh = divided(texts, after);
  return parts.flatMap((part, index) => {
    if (fresh[index] === texts[index]) return [part];
    return fresh[index] === "" ? [] : [write(part, fresh[index])];
  });
}

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

/** The input of a call of a chat message: an object. Arguments that cannot be read are kept as a text in it. */
function inputOf(call) {
  const text = call.function.arguments;
  if (text.trim() === "") return {};
  try {
    const input = JSON.parse(text);
    return input !== null && typeof input === "object" && !Array.isArray(input) ? input : { value: input };
  } catch {
    return { raw: text };
  }
}

module.exports = { MEDIA, OWN, callsOf, inputOf, joined, patched, repairThrough, saidIn, textOf };
