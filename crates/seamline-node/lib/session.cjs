"use strict";

const { inspect } = require("node:util");
const { SeamlineError, awaiting } = require("./error.cjs");
const { stringified } = require("./given.cjs");
const { failure } = require("./bodies.cjs");
const binding = require("./native.cjs");

/** A store of sessions: `sqlite:PATH`, `postgres://…` or `memory:`. */
class Store {
  #native;

  constructor(native) {
    this.#native = native;
  }

  /** The sessions of the store. */
  async list() {
    return JSON.parse(await awaiting(() => this.#native.list()));
  }

  /** Creates a session. */
  async create(id, options = {}) {
    return new Session(await awaiting(() => this.#native.create(id, stringified(options))));
  }

  /** Opens a session for writing. */
  async open(id, options = {}) {
    return new Session(await awaiting(() => this.#native.open(id, stringified(options))));
  }

  /** Opens a session, or creates it where there is none. The dialect, the provider and the title are those of a new one. */
  async openOrCreate(id, { take_over, recover, ...options } = {}) {
    const { dialect, policy } = options;
    const opened = stringified({ take_over, recover, dialect, policy });
    return new Session(await awaiting(() => this.#native.openOrCreate(id, stringified(options), opened)));
  }

  /** Erases a session with all its bytes. */
  erase(id) {
    return awaiting(() => this.#native.erase(id));
  }
}

/** Opens the store at a URL. */
async function openStore(url) {
  return new Store(await awaiting(() => binding.native.openStore(url)));
}

const texts = (messages) => {
  const list = Array.isArray(messages) ? messages : [messages];
  return list.map((message) => (typeof message === "string" ? message : stringified(message)));
};

/** The outcome of a tool: its output, or why it failed. */
async function executed(work) {
  let result;
  try {
    result = await work();
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
  return isOutcome(result) ? { output: outputOf(result.output), isError: Boolean(result.isError) } : { output: outputOf(result), isError: false };
}

const OUTCOME = new Set(["output", "isError", "durationMs"]);

/** Whether a value is `{output, isError, durationMs}`, and nothing more that would be lost. */
function isOutcome(value) {
  try {
    return value !== null && typeof value === "object" && "output" in value && Object.keys(value).every((key) => OUTCOME.has(key));
  } catch {
    return false;
  }
}

/** The text of a tool's output. The tool has run, so no value is a failure. */
function outputOf(value) {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  try {
    return stringified(value);
  } catch {
    return inspect(value);
  }
}

/** A durable conversation, open for writing. Operations run one after another, in the order in which they are called. */
class Session {
  #native;
  #last = Promise.resolve();

  constructor(native) {
    this.#native = native;
  }

  /** Creates a session in a store, or in the store at a URL. */
  static async create(store, id, options) {
    return (typeof store === "string" ? await openStore(store) : store).create(id, options);
  }

  /** Opens a session of a store, or of the store at a URL. */
  static async open(store, id, options) {
    return (typeof store === "string" ? await openStore(store) : store).open(id, options);
  }

  /** Starts an operation after all earlier ones. */
  #after(work) {
    const done = this.#last.then(() => awaiting(work));
    this.#last = done.catch(() => {});
    return done;
  }

  async #call(operation, given = {}) {
    const json = stringified(given);
    return JSON.parse(await this.#after(() => this.#native.call(operation, json)));
  }

  /** Name, dialect, health, number of messages. */
  info() {
    return this.#call("info");
  }

  /** The messages of the view. Open cycles are not among them. */
  messages() {
    return this.#call("messages");
  }

  /** Appends a message or several, all or none. A text is kept byte for byte. */
  async append(messages) {
    return this.#call("append", { messages: texts(messages) });
  }

  /** The body to send, with the members of `envelope` (model, tools, settings) around the messages. */
  async request(envelope = {}, { provider } = {}) {
    const { body, ...report } = await this.#call("request", { envelope: texts(envelope)[0], provider });
    return { text: body, body: JSON.parse(body), ...report };
  }

  /** Checks the stored messages. */
  check() {
    return this.#call("check");
  }

  /** Validates the stored messages, in the words of a layer of session integrity. */
  validate() {
    return this.#call("validate");
  }

  /** Repairs the stored messages. */
  repair() {
    return this.#call("repair");
  }

  /** Takes the last repair back. */
  undoRepair() {
    return this.#call("undo_repair");
  }

  /** Makes a checkpoint: `tool_cycle`, `compaction`, `api_call` or `manual`. */
  createCheckpoint(operation = "manual") {
    return this.#call("create_checkpoint", { operation });
  }

  commitCheckpoint(id) {
    return this.#call("commit_checkpoint", { id });
  }

  /** Rolls the conversation back to a checkpoint. */
  rollback(id, reason) {
    return this.#call("rollback", { id, reason });
  }

  checkpoints() {
    return this.#call("checkpoints");
  }

  latestCheckpoint() {
    return this.#call("latest_checkpoint");
  }

  getCheckpoint(id) {
    return this.#call("get_checkpoint", { id });
  }

  pruneCheckpoints(keep) {
    return this.#call("prune_checkpoints", { keep });
  }

  clearCheckpoints() {
    return this.#call("clear_checkpoints");
  }

  /** Begins a compaction and gives the range to replace: the given one, without half a cycle. */
  beforeCompaction(start, end) {
    return this.#call("before_compaction", { start, end });
  }

  /** Replaces the range that `beforeCompaction` gave by a summary. */
  finishCompaction({ start, end }, summary) {
    return this.#call("finish_compaction", { start, end, summary: texts(summary) });
  }

  /** Ends a compaction without a summary. */
  cancelCompaction() {
    return this.#call("cancel_compaction");
  }

  /** Clears the conversation; with `archive` another session keeps the messages. */
  reset({ archive = false } = {}) {
    return this.#call("reset", { archive });
  }

  /** Begins a cycle with the messages of a turn that makes tool calls. `effects` names the effect of each tool. */
  beginCycle(messages, effects = {}) {
    return this.#call("begin_cycle", { messages: texts(messages), effects });
  }

  beforeToolCall(cycle, call) {
    return this.#call("before_tool_call", { cycle, call });
  }

  finishCall(cycle, call, output, isError = false) {
    return this.#call("finish_call", { cycle, call, output, is_error: isError });
  }

  afterToolCall(cycle, call, output, isError = false) {
    return this.#call("after_tool_call", { cycle, call, output, is_error: isError });
  }

  afterToolFailure(cycle, call, error) {
    return this.#call("after_tool_failure", { cycle, call, error });
  }

  commitCycle(cycle) {
    return this.#call("commit_cycle", { cycle });
  }

  rollBackCycle(cycle, reason) {
    return this.#call("roll_back_cycle", { cycle, reason });
  }

  /**
   * Runs the tool calls of a turn side by side, so that the turn and all results are in the view, or nothing of it. Each
   * result is durable as soon as its tool has ended. `execute(name, input, {id, key})` returns a text, another value, or
   * `{output, isError}`.
   */
  async executeToolCycle(messages, execute, effects = {}) {
    const { cycle, calls } = await this.beginCycle(messages, effects);
    let outcomes;
    const run = async ({ id, name, input }) => {
      const { key } = await this.beforeToolCall(cycle, id);
      const ended = await executed(() => execute(name, input, { id, key }));
      // A failure may roll the cycle back, so it is told when no tool runs any more.
      if (ended.error !== undefined || ended.isError) return { id, ...ended };
      outcomes = (await this.afterToolCall(cycle, id, ended.output)) ?? outcomes;
      return { id, output: ended.output };
    };
    const settled = await Promise.allSettled(calls.map(run));
    const broken = settled.find(({ status }) => status === "rejected");
    if (broken) throw broken.reason;
    const failed = settled.map(({ value }) => value).filter(({ error, isError }) => error !== undefined || isError);
    const error = failed.find((end) => end.error !== undefined)?.error;
    for (const { id, output, isError, error: why } of failed) {
      const told = why === undefined ? this.afterToolCall(cycle, id, output, isError) : this.afterToolFailure(cycle, id, why);
      outcomes = (await told) ?? outcomes;
      // A failure that rolls the cycle back ends it.
      if (outcomes?.length === 0) return { success: false, rolledBack: true, outcomes: [], error };
    }
    outcomes ??= await this.commitCycle(cycle);
    return { success: error === undefined, rolledBack: false, outcomes, ...(error === undefined ? {} : { error }) };
  }

  /** Closes the cycles that a crash left open. */
  recover() {
    return this.#call("recover");
  }

  unresolved() {
    return this.#call("unresolved");
  }

  /** Closes all open cycles because the user aborts. */
  abort() {
    return this.#call("abort");
  }

  /** Rolls back, repairs or escalates after an error of the provider. */
  handleError(error) {
    return this.#call("handle_error", { error: failure(error) });
  }

  sessionStart() {
    return this.#call("session_start");
  }

  beforeAgentStart(envelope = {}) {
    return this.#call("before_agent_start", { envelope: texts(envelope)[0] });
  }

  /** Ends a turn with the messages of a response without calls, or with an error. */
  agentEnd(end) {
    return this.#call("agent_end", end?.error === undefined ? { messages: texts(end) } : { error: failure(end.error) });
  }

  incidents() {
    return this.#call("incidents");
  }

  repairContext() {
    return this.#call("repair_context");
  }

  takeRepairContext() {
    return this.#call("take_repair_context");
  }

  switchProvider(provider) {
    return this.#call("switch_provider", { provider });
  }

  /** Makes a copy of the session under another name. */
  async fork(id) {
    return new Session(await this.#after(() => this.#native.fork(id)));
  }

  /** Closes the session and releases its lease. */
  close() {
    return this.#call("close");
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }
}

module.exports = { SeamlineError, Session, Store, executed, openStore };
