"use strict";
// A layer of session integrity for hosts that keep their messages in an array: checkpoints, atomic tool cycles and
// recovery, recorded in a durable store.

const { AsyncLocalStorage } = require("node:async_hooks");
const { SeamlineError, calling } = require("./error.cjs");
const { executed, openStore } = require("./session.cjs");
const { reused, stringified } = require("./given.cjs");
const { sessionName } = require("./names.cjs");
const binding = require("./native.cjs");

const DIALECT = "anthropic_messages";
/** The most sessions that stay open while no work runs on them. */
const IDLE_SESSIONS_MAX = 64;
const DEFAULTS = {
  enabled: true,
  validateBeforeCall: true,
  autoRepair: false,
  checkpointRetention: 5,
  snapshotMessages: false,
  verbose: false,
};

/** The session is not valid. `validation` has the errors. */
class SessionIntegrityError extends Error {
  constructor(validation) {
    super(validation.error ?? "the session is not valid");
    this.name = "SessionIntegrityError";
    this.validation = validation;
  }
}

/** The work that runs in this asynchronous context. */
const working = new AsyncLocalStorage();

const toConsole = (event) => console.error("seamline", event);
const jsonOf = (message) => stringified(message);
const callsOf = (message) =>
  message?.role === "assistant" && Array.isArray(message.content) ? message.content.filter((block) => block.type === "tool_use") : [];

class SessionIntegrity {
  #config;
  #options;
  #store;
  #sessions = new Map();
  #queues = new Map();
  #log;
  #isVerbose;

  constructor({ store = "memory:", log = toConsole, ...config }) {
    this.#config = { ...DEFAULTS, ...config };
    this.#log = log;
    const { enabled, validateBeforeCall, autoRepair, checkpointRetention, snapshotMessages, verbose } = this.#config;
    const policy = {
      preset: "clawos",
      repair: { on_invalid: autoRepair ? "repair" : "offer" },
      session: { enabled, validateBeforeCall, checkpointRetention, snapshotMessages, verbose },
    };
    this.#options = { dialect: DIALECT, provider: "anthropic", policy };
    this.#store = typeof store === "string" ? openStore(store) : Promise.resolve(store);
    this.#store.catch(() => {});
    this.#isVerbose = verbose === true;
  }

  /** The configuration with its defaults. */
  get config() {
    return { ...this.#config };
  }

  /** Validates the messages of a session, without I/O. */
  validate(session) {
    if (!this.#config.enabled || session.messages.length === 0) return { valid: true };
    const messages = session.messages.map(jsonOf);
    return JSON.parse(calling(() => binding.native.validate(messages, stringified(this.#options))));
  }

  /** Whether the messages are valid. */
  isSessionValid(session) {
    return this.validate(session).valid;
  }

  /** Validates, repairs where the configuration says so, and throws where the session is still not valid. */
  async validateOrThrow(session) {
    const validation = this.validate(session);
    if (validation.valid) return;
    if (this.#config.autoRepair) await this.repair(session);
    const left = this.validate(session);
    if (!left.valid) throw new SessionIntegrityError(left);
  }

  /** Call this before each request: whether it may be sent, and the checkpoint to return to. */
  beforeAgentStart(session) {
    return this.#alone("before_agent_start", session, async (durable) => {
      const start = await durable.beforeAgentStart();
      if (start.proceed) await this.#show(session, durable);
      return {
        proceed: start.proceed,
        ...(start.checkpoint ? { checkpoint: start.checkpoint } : {}),
        ...(start.validation ? { validation: start.validation, repairOffered: start.repair_offered } : {}),
      };
    });
  }

  /** Makes a checkpoint before an operation. */
  checkpoint(session, operation = "manual") {
    return this.#alone("checkpoint", session, (durable) => durable.createCheckpoint(operation));
  }

  /** Commits a checkpoint: its operation succeeded. */
  commit(session, checkpointId) {
    return this.#alone("commit", session, (durable) => durable.commitCheckpoint(checkpointId));
  }

  /** The newest checkpoint that is open, if there is one. */
  getLatestCheckpoint(session) {
    return this.#alone("get_latest_checkpoint", session, async (durable) => (await durable.latestCheckpoint()) ?? undefined);
  }

  getCheckpoint(session, checkpointId) {
    return this.#alone("get_checkpoint", session, async (durable) => (await durable.getCheckpoint(checkpointId)) ?? undefined);
  }

  listCheckpoints(session) {
    return this.#alone("list_checkpoints", session, (durable) => durable.checkpoints());
  }

  /** Removes old committed checkpoints; returns how many. */
  prune(session, keepCount = this.#config.checkpointRetention) {
    return this.#alone("prune", session, (durable) => durable.pruneCheckpoints(keepCount));
  }

  /**
   * Executes a tool call so that the call and its result are both in the session, or neither. Where the last message of
   * the session makes the call, that message is the turn, and it leaves the session when the tool fails.
   */
  async executeToolCycle(session, toolUse, executor) {
    if (!this.#config.enabled) return this.#bypassed(toolUse, executor);
    const { success, results, error } = await this.#execute(session, () => turnOf(session, toolUse), executor);
    return success ? { success, result: results[0] } : { success, error, rolledBack: true };
  }

  /** Executes all tool calls of a turn: the turn and all results are in the session, or nothing of it. */
  executeTurn(session, turn, executor) {
    return this.#execute(session, () => turn, executor);
  }

  /** Executes the turn that `take` gives, which may take it out of the messages. An error puts it back. */
  #execute(session, take, executor) {
    let given;
    let turn;
    const prepare = () => {
      given = [...session.messages];
      turn = take();
    };
    const work = async (durable) => {
      const outcome = await durable.executeToolCycle(turn, (name, input) => executor.execute(name, input));
      try {
        await this.#show(session, durable);
      } catch (error) {
        return this.#taken(session, durable, given, error);
      }
      if (!outcome.success) return { success: false, error: outcome.error ?? "the tool failed", rolledBack: true, results: [] };
      const results = outcome.outcomes.map(({ tool_use_id, content, is_error }) => ({
        type: "tool_result",
        tool_use_id,
        content,
        ...(is_error ? { is_error } : {}),
      }));
      return { success: true, results };
    };
    const failed = () => {
      if (given && session.messages.length < given.length) session.messages.splice(0, session.messages.length, ...given);
    };
    return this.#alone("execute_tool_cycle", session, work, { prepare, failed });
  }

  /** Takes a cycle back that the host could not persist. The store follows the messages of the host. */
  async #taken(session, durable, given, error) {
    session.messages.splice(0, session.messages.length, ...given);
    const stored = await durable.messages();
    await this.#take(session, durable, stored, common(stored, session.messages));
    return { success: false, error: error instanceof Error ? error.message : String(error), rolledBack: true, results: [] };
  }

  async #bypassed(toolUse, executor) {
    const { output, isError, error } = await executed(() => executor.execute(toolUse.name, toolUse.input));
    if (error !== undefined) return { success: false, error };
    return { success: true, result: { type: "tool_result", tool_use_id: toolUse.id, content: output, ...(isError ? { is_error: true } : {}) } };
  }

  /** Handles an error of the provider: rolls back to the last open checkpoint, repairs, or escalates. */
  handleError(session, error) {
    return this.#alone("handle_error", session, async (durable) => {
      const { details, ...recovery } = await durable.handleError(error);
      await this.#show(session, durable);
      return details === undefined ? recovery : { ...recovery, details: typeof details === "string" ? { advice: details } : details };
    });
  }

  /** Removes results without a call and calls without a result. */
  repair(session) {
    return this.#alone("repair", session, async (durable) => {
      const before = await durable.messages();
      const { repaired, repairs } = await durable.repair();
      await this.#show(session, durable);
      return { repaired, repairs: repairs.flatMap((action) => acted(action, before)), messages: session.messages };
    });
  }

  /** Rolls the session back to a checkpoint. */
  async rollback(session, checkpointId) {
    return this.#alone("rollback", session, async (durable, intact) => {
      const checkpoint = await durable.getCheckpoint(checkpointId);
      if (!checkpoint) throw new Error(`Checkpoint not found: ${checkpointId}`);
      if (intact < checkpoint.messageIndex) throw new Error("Checkpoint integrity mismatch — messages were modified");
      const removed = session.messages.length - checkpoint.messageIndex;
      const result = await durable.rollback(checkpointId, "the host asked for it");
      await this.#show(session, durable);
      return { success: result.success, messagesRemoved: removed, newMessageCount: session.messages.length };
    }, { isChecked: true });
  }

  /** Clears the session; only messages that are marked as the system prompt stay. */
  reset(session, { archive = false } = {}) {
    return this.#alone("reset", session, async (durable) => {
      if (archive) await session.archive?.();
      const { success } = await durable.reset({ archive });
      await this.#show(session, durable);
      return { success, archived: archive, remainingMessages: session.messages.length };
    });
  }

  /** The incidents of a session. */
  incidents(session) {
    return this.#alone("incidents", session, (durable) => durable.incidents());
  }

  /** Closes all sessions, after the work that runs on them. */
  async close() {
    await Promise.all(this.#queues.values());
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(async (opened) => (await opened).close()));
  }

  /** Runs work on a session while no other work runs on it. `prepare` runs first, `failed` after an error. */
  #alone(event, session, work, { isChecked = false, prepare = () => {}, failed = () => {} } = {}) {
    const id = session.sessionId;
    const running = { layer: this, id, isOver: false };
    if ((working.getStore() ?? []).some((one) => one.layer === this && one.id === id && !one.isOver)) {
      const hint = "call it before or after the tool call";
      return Promise.reject(new SeamlineError("session", "a tool cannot work on the session that runs it", { hint }));
    }
    const before = this.#queues.get(id) ?? Promise.resolve();
    const done = before.then(async () => {
      prepare();
      try {
        const durable = await this.#opened(id);
        const stored = await durable.messages();
        const intact = common(stored, session.messages);
        if (!isChecked || intact === stored.length) await this.#take(session, durable, stored, intact);
        const outcome = await working.run([...(working.getStore() ?? []), running], () => work(durable, intact));
        this.#tell({ event, session: id, messages: session.messages.length, ...outcomeOf(outcome) });
        return outcome;
      } catch (error) {
        failed();
        this.#tell({ event, session: id, messages: session.messages.length, error: error?.name ?? typeof error });
        throw error;
      } finally {
        running.isOver = true;
      }
    });
    const settled = done.catch(() => {}).then(() => {
      if (this.#queues.get(id) === settled) this.#queues.delete(id);
      return this.#closeIdle();
    });
    this.#queues.set(id, settled);
    return done;
  }

  #tell(event) {
    if (this.#isVerbose) this.#log(event);
  }

  #opened(id) {
    const known = this.#sessions.get(id);
    const opened = known ?? this.#store.then((store) => store.openOrCreate(sessionName(id), this.#options));
    // The sessions are in the order of their last use.
    this.#sessions.delete(id);
    this.#sessions.set(id, opened);
    if (!known) opened.catch(() => this.#sessions.delete(id));
    return opened;
  }

  /** Closes the sessions that had no work for the longest time, where too many are open. */
  async #closeIdle() {
    for (const [id, opened] of this.#sessions) {
      if (this.#sessions.size <= IDLE_SESSIONS_MAX) return;
      if (this.#queues.has(id)) continue;
      this.#sessions.delete(id);
      // Work that comes meanwhile opens the session again, and only after this.
      const closed = opened.then((durable) => durable.close()).catch(() => {});
      const settled = closed.then(() => {
        if (this.#queues.get(id) === settled) this.#queues.delete(id);
      });
      this.#queues.set(id, settled);
      await settled;
    }
  }

  /** Takes in what the host changed since the last call: new messages, or another history. */
  async #take(session, durable, stored, intact) {
    let from = intact;
    if (intact < stored.length) {
      await durable.reset();
      from = common(await durable.messages(), session.messages);
    }
    const added = session.messages.slice(from);
    if (added.length > 0) await durable.append(added.map(jsonOf));
  }

  /** Gives the host the messages of the view. Messages that did not change are the same objects. */
  async #show(session, durable) {
    const view = await durable.messages();
    const shown = reused(session.messages, view);
    if (shown === session.messages) return;
    session.messages.splice(0, session.messages.length, ...shown);
    await session.persist?.();
  }
}

/** The facts of an outcome that a log may show. */
function outcomeOf(outcome) {
  const { success, rolledBack, proceed, action, id } = outcome ?? {};
  return Object.fromEntries(Object.entries({ success, rolledBack, proceed, action, checkpoint: id }).filter(([, value]) => value !== undefined));
}

/** The turn that makes a call: the last message, which is taken out, or a new one. */
function turnOf(session, toolUse) {
  const calls = callsOf(session.messages.at(-1));
  if (!calls.some((call) => call.id === toolUse.id)) return { role: "assistant", content: [toolUse] };
  const others = calls.filter((call) => call.id !== toolUse.id);
  if (others.length === 0) return session.messages.pop();
  const ids = others.map((call) => call.id).join(", ");
  throw new SeamlineError("session", `the turn makes other tool calls, too: ${ids}`, { hint: "use executeTurn" });
}

/** The number of messages that both lists start with. */
function common(stored, messages) {
  let count = 0;
  while (count < stored.length && count < messages.length && jsonOf(stored[count]) === jsonOf(messages[count])) count += 1;
  return count;
}

/** An action of a repair in the words of the interface. */
function acted({ code, call_id, message_index }, before) {
  const messageIndex = message_index ?? 0;
  const isCall = callsOf(before[messageIndex]).some((call) => call.id === call_id);
  const named = call_id ? { messageIndex, toolUseId: call_id } : { messageIndex };
  if (code.startsWith("SHAPE")) return [{ action: "remove_empty_message", messageIndex }];
  if (code === "IDENT003") return [{ action: "remove_duplicate_id", ...named }];
  return [{ action: isCall ? "remove_incomplete" : "remove_orphan", ...named }];
}

/** Makes a layer of session integrity. */
function createSessionIntegrity(config = {}) {
  return new SessionIntegrity(config);
}

module.exports = { SessionIntegrityError, createSessionIntegrity };
