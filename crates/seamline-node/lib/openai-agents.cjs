"use strict";
// OpenAI Agents for JavaScript: a filter of model input, and a session on a durable store.

const { repair } = require("./bodies.cjs");
const { openStore } = require("./session.cjs");

/** Items of the SDK have the members of the Responses API in another spelling. */
function toWire(item) {
  const { callId, ...rest } = item;
  if (item.type === "function_call") return { ...rest, call_id: callId };
  if (item.type === "function_call_result") {
    const { name: _, status: __, output, ...others } = rest;
    return { ...others, type: "function_call_output", call_id: callId, output: textOf(output) };
  }
  if (item.role) return { type: "message", role: item.role, content: contentOf(item) };
  return { ...rest };
}

function textOf(output) {
  if (typeof output === "string") return output;
  return output?.type === "text" ? output.text : JSON.stringify(output ?? "");
}

function contentOf(item) {
  if (typeof item.content === "string") return item.content;
  const kind = item.role === "assistant" ? "output_text" : "input_text";
  return (item.content ?? []).map((part) => (part.text === undefined ? { type: kind, text: `(${part.type})` } : { type: kind, text: part.text }));
}

function fromWire(wire, original, names) {
  if (wire.type === "function_call") {
    return { ...original, type: "function_call", callId: wire.call_id, name: wire.name, arguments: wire.arguments, status: original?.status ?? "completed" };
  }
  if (wire.type === "function_call_output") {
    const output = { type: "text", text: typeof wire.output === "string" ? wire.output : JSON.stringify(wire.output) };
    const made = { type: "function_call_result", callId: wire.call_id, name: names.get(wire.call_id) ?? "unknown", status: "completed" };
    return original?.type === "function_call_result" ? { ...original, ...made } : { ...made, output };
  }
  return original ? { ...original, ...wire } : wire;
}

/** Repairs input items: the same list where nothing needs a repair. */
function repairItems(items, options = {}) {
  if (!Array.isArray(items) || items.length === 0) return items;
  const wires = items.map(toWire);
  const repaired = repair(wires, { dialect: "openai_responses", kept: true, ...options });
  if (!repaired.changed) return withOwnIds(items);
  const names = new Map();
  for (const wire of repaired.body) if (wire.type === "function_call") names.set(wire.call_id, wire.name);
  const origins = repaired.origins;
  const mended = repaired.body.map((wire, at) => {
    const from = origins[at] ?? undefined;
    return from !== undefined && wire === wires[from] ? items[from] : fromWire(wire, items[from], names);
  });
  return withOwnIds(mended);
}

/** Gives each call an id of its own: the SDK drops one of two items with the same id. */
function withOwnIds(items) {
  const taken = new Set(items.map((item) => item.callId));
  const seen = new Set();
  const waiting = new Map();
  const renamed = items.map((item) => {
    if (item.type === "function_call") {
      let id = item.callId;
      for (let count = 2; seen.has(id) || (id !== item.callId && taken.has(id)); count += 1) id = `${item.callId}_${count}`;
      seen.add(id);
      waiting.set(item.callId, [...(waiting.get(item.callId) ?? []), id]);
      return id === item.callId ? item : { ...item, callId: id };
    }
    if (item.type !== "function_call_result") return item;
    const id = waiting.get(item.callId)?.shift() ?? item.callId;
    return id === item.callId ? item : { ...item, callId: id };
  });
  return renamed.every((item, index) => item === items[index]) ? items : renamed;
}

/** The value of `callModelInputFilter`; wraps another filter. */
function repairInput(inner, options) {
  if (inner !== undefined && typeof inner !== "function") [inner, options] = [undefined, inner];
  return async function callModelInputFilter(call) {
    const data = inner ? await inner(call) : call.modelData;
    return { ...data, input: repairItems(data.input, options) };
  };
}

/** A session of the SDK on a durable store: `sqlite:PATH`, `postgres://…` or `memory:`. */
class SeamlineSession {
  #id;
  #options;
  #opened;

  constructor({ store, id, ...options }) {
    this.#id = id;
    this.#options = options;
    this.#opened = (async () => {
      const opened = typeof store === "string" ? await openStore(store) : store;
      return opened.openOrCreate(id, { dialect: "openai_responses" });
    })();
    this.#opened.catch(() => {});
  }

  async getSessionId() {
    return this.#id;
  }

  async #items() {
    const session = await this.#opened;
    return (await session.messages()).map((message) => message.seamline_item ?? message);
  }

  async getItems(limit) {
    const items = repairItems(await this.#items(), this.#options);
    return limit === undefined ? items : items.slice(-limit);
  }

  /** Each item is kept as it is, beside its form for the provider. */
  async addItems(items) {
    if (items.length === 0) return;
    const session = await this.#opened;
    await session.append(items.map((item) => ({ ...toWire(item), seamline_item: item })));
  }

  async popItem() {
    const session = await this.#opened;
    const items = await this.#items();
    const last = items.at(-1);
    if (last === undefined) return undefined;
    await session.reset();
    await this.addItems(items.slice(0, -1));
    return last;
  }

  async clearSession() {
    await (await this.#opened).reset();
  }

  async close() {
    await (await this.#opened).close();
  }
}

module.exports = { SeamlineSession, repairInput, repairItems };
