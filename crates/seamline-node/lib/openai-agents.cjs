"use strict";
// OpenAI Agents for JavaScript: a filter of model input, and a session on a durable store.

const { repair, safeTrim } = require("./bodies.cjs");
const { SeamlineError } = require("./error.cjs");
const { adapting } = require("./failing.cjs");
const { Mirror, isWhole, itemOf, withOwnIds, withResultsBehind } = require("./openai-agents-items.cjs");
const { sessionName } = require("./names.cjs");
const { openStore } = require("./session.cjs");

const DIALECT = "openai_responses";

/** The options that belong to the adapter and not to a repair. */
const OWN = ["serverManaged"];

/**
 * Repairs input items: the same list where nothing needs a repair. `serverManaged` says whether the provider keeps the earlier
 * items; without it the list decides.
 */
function repairItems(items, options) {
  return repairedFor(items, options, false);
}

function repairedFor(items, options, isChat) {
  if (!Array.isArray(items) || items.length === 0) return items;
  const { guarded, repairing } = adapting("a list of items", options, OWN);
  const isManaged = options?.serverManaged ?? !isWhole(items);
  return guarded(items, () => repaired(items, repairing, { isManaged, isChat }));
}

function repaired(items, options, { isManaged, isChat }) {
  const mirror = new Mirror();
  const wires = items.map((item) => mirror.wire(item));
  // The provider has the calls of results that are alone in a request with a link to an earlier one.
  const given = isManaged ? { input: wires, previous_response_id: "resp_earlier" } : wires;
  const outcome = repair(given, { dialect: DIALECT, kept: true, ...options });
  const { changed, origins } = outcome;
  const body = isManaged ? outcome.body.input : outcome.body;
  if (!changed) return withResultsBehind(withOwnIds(items), isChat);
  const names = new Map();
  for (const wire of body) if (wire.type === "function_call") names.set(wire.call_id, wire.name);
  const mended = body.map((wire, at) => {
    const from = origins[at] ?? undefined;
    return from !== undefined && wire === wires[from] ? items[from] : itemOf(wire, items[from], mirror, names);
  });
  return withResultsBehind(withOwnIds(mended), isChat);
}

/** The value of `callModelInputFilter`; wraps another filter. */
function repairInput(inner, options) {
  if (inner !== undefined && typeof inner !== "function") [inner, options] = [undefined, inner];
  adapting("the input of a model", options, OWN);
  return async function callModelInputFilter(call) {
    const data = inner ? await inner(call) : call.modelData;
    return { ...data, input: repairedFor(data.input, options, asksChat(call.agent)) };
  };
}

/** Models that write items as messages of Chat Completions. */
const CHAT_MODELS = new Set(["OpenAIChatCompletionsModel", "AiSdkModel"]);
const asksChat = (agent) => CHAT_MODELS.has(agent?.model?.constructor?.name);

/** A session of the SDK on a durable store: `sqlite:PATH`, `postgres://…` or `memory:`. */
class SeamlineSession {
  #id;
  #options;
  #guarded;
  #repairing;
  #opened;
  #last = Promise.resolve();

  constructor({ store, id, ...options }) {
    this.#id = id;
    this.#options = options;
    ({ guarded: this.#guarded, repairing: this.#repairing } = adapting("a session", options));
    const { provider = "openai", policy } = this.#repairing;
    this.#opened = (async () => {
      const opened = typeof store === "string" ? await openStore(store) : store;
      const session = await opened.openOrCreate(sessionName(id), { dialect: DIALECT, provider, ...(policy ? { policy } : {}) });
      await begun(session);
      return session;
    })();
    this.#opened.catch(() => {});
  }

  async getSessionId() {
    return this.#id;
  }

  /** Runs work while no other work of this session runs. */
  #alone(work) {
    const done = this.#last.then(async () => work(await this.#opened));
    this.#last = done.catch(() => {});
    return done;
  }

  /** The items of the conversation, repaired; with `limit` the latest ones, from the start of a cycle on. */
  getItems(limit) {
    return this.#alone(async (session) => {
      if (limit !== undefined && limit <= 0) return [];
      const items = repairItems((await session.messages()).map(itemIn), { ...this.#options, serverManaged: false });
      return limit === undefined || items.length <= limit ? items : this.#guarded(items.slice(-limit), () => this.#latest(items, limit));
    });
  }

  #latest(items, limit) {
    const mirror = new Mirror();
    const wires = items.map((item) => mirror.wire(item));
    const { removed } = safeTrim(wires, { dialect: DIALECT, ...this.#repairing, maxMessages: limit });
    const gone = new Set(removed);
    return items.filter((_, index) => !gone.has(index));
  }

  /** Each item is kept as it is, beside its form for the provider. */
  addItems(items) {
    return this.#alone(async (session) => {
      if (items.length === 0) return;
      const mirror = new Mirror({ isStored: true });
      await session.append(items.map((item) => ({ ...mirror.wire(item), seamline_item: item })));
    });
  }

  /** Takes the last item out of the view, in one step. The log keeps it. */
  popItem() {
    return this.#alone(async (session) => {
      const messages = await session.messages();
      if (messages.length === 0) return undefined;
      if (messages.length === 1) await emptied(session);
      else await shortened(session, messages);
      return itemIn(messages.at(-1));
    });
  }

  /** Empties the view. The log keeps its items. */
  clearSession() {
    return this.#alone(emptied);
  }

  async close() {
    await (await this.#opened).close();
  }
}

const itemIn = (message) => message.seamline_item ?? message;

/** Makes sure that there is a checkpoint before the first item: a reset would keep system messages. */
async function begun(session) {
  const isBegun = (await session.checkpoints()).some(isStart);
  if (!isBegun && (await session.info()).messages === 0) await session.createCheckpoint("manual");
}

const isStart = ({ messageIndex, state }) => messageIndex === 0 && (state === "open" || state === "committed");

async function emptied(session) {
  const start = (await session.checkpoints()).find(isStart);
  if (start) await session.rollback(start.id, "the session is cleared");
  else await session.reset();
  await begun(session);
}

/** Replaces the end of the view, from the start of a cycle on, by itself without its last item. One commit does it. */
async function shortened(session, messages) {
  if (await replaced(session, messages, messages.slice(0, -1))) return;
  // Calls at the end still wait for their results, and a compaction would stay before them. After a crash here the view
  // has one result more, and all of its items.
  const closing = messages.filter(isOpenCall).map(closed);
  await session.append(closing);
  if (!(await replaced(session, [...messages, ...closing], messages.slice(0, -1)))) throw new SeamlineError("session", "the last item cannot be taken back");
}

/** Replaces the end of the view, so that it is `wanted`; false where a cut would separate a call from its result. */
async function replaced(session, messages, wanted) {
  const end = messages.length;
  for (let count = 1; count < 2 * end; count *= 2) {
    const range = await session.beforeCompaction(Math.max(0, end - count), end);
    if (range.end === end && range.start < wanted.length + 1 && range.start < end) {
      await session.finishCompaction(range, wanted.slice(range.start));
      return true;
    }
    await session.cancelCompaction();
    if (range.end < end) return false;
  }
  return false;
}

const isOpenCall = ({ type, call_id }, index, messages) =>
  Boolean(type?.endsWith("_call") && call_id) && !messages.slice(index).some((other) => other.type === `${type}_output` && other.call_id === call_id);

function closed({ type, call_id, name }) {
  const text = "[synthetic] The call was taken back.";
  const item = { type: type === "function_call" ? "function_call_result" : `${type}_output`, callId: call_id, name, status: "completed", output: { type: "text", text } };
  return { type: `${type}_output`, call_id, output: text, seamline_item: item };
}

module.exports = { SeamlineSession, repairInput, repairItems };
