// The eighteen test cases of the source document on session integrity, each under its number.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { openStore } from "seamline";
import { SessionIntegrityError, createSessionIntegrity } from "seamline/integrity";

const text = (role, value) => ({ role, content: [{ type: "text", text: value }] });
const use = (id) => ({ type: "tool_use", id, name: "read", input: {} });
const calling = (...ids) => ({ role: "assistant", content: ids.map(use) });
const result = (id) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] });
const saying = (output, isError) => ({ execute: async () => ({ output, ...(isError === undefined ? {} : { isError }) }) });

let count = 0;
let integrity;
let session;
const begin = (...messages) => {
  count += 1;
  session = { sessionId: `s-${count}`, messages, persisted: 0, archived: 0, persist() { this.persisted += 1; }, archive() { this.archived += 1; return "archive"; } };
  return session;
};
beforeEach(() => {
  integrity = createSessionIntegrity();
});

test("the defaults", () => {
  assert.deepEqual(integrity.config, { enabled: true, validateBeforeCall: true, autoRepair: false, checkpointRetention: 5, snapshotMessages: false, verbose: false });
});

test("1: a session without tools is valid", () => {
  assert.deepEqual(integrity.validate(begin(text("user", "hi"), text("assistant", "yes"))), { valid: true });
});

test("2: matched calls and results are valid", () => {
  assert.ok(integrity.validate(begin(text("user", "hi"), calling("toolu_01ABC"), result("toolu_01ABC"))).valid);
});

test("3: an orphaned result is named", () => {
  const found = integrity.validate(begin(text("user", "hi"), text("assistant", "yes"), result("toolu_9")));
  assert.deepEqual([found.valid, found.error, found.orphanedIds], [false, "Orphaned tool_result: toolu_9", ["toolu_9"]]);
  const first = integrity.validate(begin(text("user", "hi"), result("toolu_9")));
  assert.equal(first.error, "tool_result without preceding assistant message");
});

test("4: an incomplete call is named, except in the last message", () => {
  const found = integrity.validate(begin(text("user", "hi"), calling("toolu_1"), text("user", "well?")));
  assert.deepEqual([found.valid, found.error, found.incompleteIds], [false, "Incomplete tool_use: toolu_1", ["toolu_1"]]);
  assert.ok(integrity.validate(begin(text("user", "hi"), calling("toolu_1"))).valid);
});

test("5: duplicate ids are invalid", () => {
  const found = integrity.validate(begin(text("user", "hi"), calling("toolu_1"), result("toolu_1"), calling("toolu_1"), result("toolu_1")));
  assert.deepEqual([found.valid, found.error], [false, "Duplicate tool_use id: toolu_1"]);
});

test("6: a checkpoint that was made exists", async () => {
  begin(text("user", "hi"));
  for (const operation of ["tool_cycle", "compaction", "api_call", "manual"]) {
    const made = await integrity.checkpoint(session, operation);
    assert.deepEqual([made.sessionId, made.messageIndex, made.operation], [session.sessionId, 1, operation]);
    assert.ok(made.timestamp > 0 && made.contentHash.length > 0 && made.snapshot === undefined);
    assert.deepEqual(await integrity.getCheckpoint(session, made.id), made);
  }
});

test("7: a committed checkpoint is marked", async () => {
  const made = await integrity.checkpoint(begin(text("user", "hi")), "manual");
  await integrity.commit(session, made.id);
  assert.equal((await integrity.getCheckpoint(session, made.id)).state, "committed");
  assert.equal(await integrity.getLatestCheckpoint(session), undefined);
});

test("8: a rollback truncates the messages to the checkpoint", async () => {
  const made = await integrity.checkpoint(begin(text("user", "hi")), "api_call");
  const [kept] = session.messages;
  session.messages.push(calling("toolu_1"), result("toolu_1"));
  assert.deepEqual(await integrity.rollback(session, made.id), { success: true, messagesRemoved: 2, newMessageCount: 1 });
  assert.deepEqual(session.messages, [text("user", "hi")]);
  assert.equal(session.messages[0], kept);
  assert.ok(session.persisted > 0);
});

test("9: a rollback to a corrupted or unknown checkpoint is an error", async () => {
  const made = await integrity.checkpoint(begin(text("user", "hi"), text("assistant", "yes")), "manual");
  await assert.rejects(integrity.rollback(session, "ckpt_99"), { message: "Checkpoint not found: ckpt_99" });
  session.messages[0] = text("user", "altered");
  await assert.rejects(integrity.rollback(session, made.id), { message: "Checkpoint integrity mismatch — messages were modified" });
  assert.equal(session.messages.length, 2);
});

test("10: a successful cycle persists the call and its result", async () => {
  begin(text("user", "hi"));
  const done = await integrity.executeToolCycle(session, use("toolu_1"), saying("done"));
  assert.deepEqual(done, { success: true, result: { type: "tool_result", tool_use_id: "toolu_1", content: "done" } });
  assert.equal(session.messages.length, 3);
  assert.deepEqual(session.messages[1], calling("toolu_1"));
  assert.equal(session.messages[2].content[0].tool_use_id, "toolu_1");
  assert.ok(integrity.isSessionValid(session) && session.persisted > 0);
  const failed = await integrity.executeToolCycle(session, use("toolu_2"), saying("no such file", true));
  assert.deepEqual([failed.success, failed.result.is_error], [true, true]);
});

test("11: a failed execution leaves no partial state", async () => {
  begin(text("user", "hi"));
  const failing = { execute: async () => { throw new Error("boom"); } };
  assert.deepEqual(await integrity.executeToolCycle(session, use("toolu_1"), failing), { success: false, error: "boom", rolledBack: true });
  assert.deepEqual(session.messages, [text("user", "hi")]);
  // The host had added the turn already.
  session.messages.push(calling("toolu_2"));
  await integrity.executeToolCycle(session, use("toolu_2"), failing);
  assert.deepEqual(session.messages, [text("user", "hi")]);
});

test("12: a content filter during a tool leaves a clean state", async () => {
  begin(text("user", "hi"));
  const filtered = { execute: async () => { throw new Error("Output blocked by content filtering policy"); } };
  const done = await integrity.executeToolCycle(session, use("toolu_1"), filtered);
  assert.deepEqual([done.success, done.rolledBack], [false, true]);
  assert.ok(integrity.isSessionValid(session) && session.messages.length === 1);
});

test("13: an orphaned result is removed", async () => {
  begin(text("user", "hi"), text("assistant", "yes"), result("toolu_9"), text("user", "go on"));
  const repaired = await integrity.repair(session);
  assert.ok(repaired.repaired && repaired.messages === session.messages);
  assert.ok(repaired.repairs.some(({ action, toolUseId, messageIndex }) => action === "remove_orphan" && toolUseId === "toolu_9" && messageIndex === 2));
  assert.ok(!JSON.stringify(session.messages).includes("toolu_9") && integrity.isSessionValid(session));
});

test("14: an incomplete call is removed", async () => {
  begin(text("user", "hi"), calling("toolu_1"), text("user", "well?"));
  const repaired = await integrity.repair(session);
  assert.ok(repaired.repairs.some(({ action, toolUseId }) => action === "remove_incomplete" && toolUseId === "toolu_1"));
  assert.ok(!JSON.stringify(session.messages).includes("toolu_1") && integrity.isSessionValid(session));
});

test("15: a reset session is clean and archived", async () => {
  begin(text("user", "hi"), calling("toolu_1"), result("toolu_1"));
  await integrity.checkpoint(session, "manual");
  assert.deepEqual(await integrity.reset(session, { archive: true }), { success: true, archived: true, remainingMessages: 0 });
  assert.deepEqual([session.messages, session.archived], [[], 1]);
  assert.deepEqual(await integrity.listCheckpoints(session), []);
});

test("16: a call with a valid session proceeds", async () => {
  const start = await integrity.beforeAgentStart(begin(text("user", "hi")));
  assert.ok(start.proceed);
  assert.equal((await integrity.getCheckpoint(session, start.checkpoint)).operation, "api_call");
});

test("17: a call with a corrupt session is blocked and a repair is offered", async () => {
  begin(text("user", "hi"), calling("toolu_1"), text("user", "well?"));
  const start = await integrity.beforeAgentStart(session);
  assert.deepEqual([start.proceed, start.repairOffered, start.validation.incompleteIds], [false, true, ["toolu_1"]]);
  await assert.rejects(integrity.validateOrThrow(session), SessionIntegrityError);
  await integrity.repair(session);
  assert.ok((await integrity.beforeAgentStart(session)).proceed);
  const repairing = createSessionIntegrity({ autoRepair: true });
  begin(text("user", "hi"), calling("toolu_1"), text("user", "well?"));
  await repairing.validateOrThrow(session);
  assert.ok(repairing.isSessionValid(session));
});

test("18: a content filter in a stream rolls back and the user is notified", async () => {
  const start = await integrity.beforeAgentStart(begin(text("user", "hi")));
  session.messages.push(text("assistant", "Let me"), calling("toolu_1"));
  const error = Object.assign(new Error('{"type":"error","error":{"type":"content_filtered","message":"Output blocked by content filtering policy"}}'), { status: 400 });
  const recovery = await integrity.handleError(session, error);
  assert.deepEqual([recovery.action, recovery.checkpoint], ["rolled_back", start.checkpoint]);
  assert.match(recovery.message, /Content filter triggered\. Rolled back \d+ messages?\./);
  assert.deepEqual(session.messages, [text("user", "hi")]);
  assert.ok((await integrity.incidents(session)).some(({ type }) => type === "content_filter"));
});

test("a layer that is switched off runs the tool and checks nothing", async () => {
  const off = createSessionIntegrity({ enabled: false });
  assert.deepEqual(off.validate(begin(text("user", "hi"), result("toolu_9"))), { valid: true });
  assert.ok((await off.executeToolCycle(session, use("toolu_1"), saying("done"))).success);
});

test("cycles on one session do not interleave", async () => {
  begin(text("user", "hi"));
  await Promise.all(Array.from({ length: 20 }, (_, at) => integrity.executeToolCycle(session, use(`toolu_${at}`), saying(`done ${at}`))));
  assert.equal(session.messages.length, 41);
  assert.ok(integrity.isSessionValid(session));
});

test("equal messages stay different objects, and nothing is persisted without a change", async () => {
  const [one, two] = [text("user", "again"), text("user", "again")];
  begin(one, text("assistant", "yes"), two);
  await integrity.beforeAgentStart(session);
  assert.deepEqual([session.messages[0] === one, session.messages[2] === two, session.persisted], [true, true, 0]);
});

test("an error of the store leaves the turn of the host where it was", async () => {
  const store = await openStore("memory:");
  const failing = { openOrCreate: async (...given) => {
    const durable = await store.openOrCreate(...given);
    durable.beginCycle = async () => { throw new Error("disk full"); };
    return durable;
  } };
  const layer = createSessionIntegrity({ store: failing });
  begin(text("user", "hi"), calling("toolu_1"));
  const before = [...session.messages];
  const running = layer.executeToolCycle(session, use("toolu_1"), saying("done"));
  assert.deepEqual(session.messages, before, "the turn stays while other work runs");
  await assert.rejects(running, /disk full/);
  assert.deepEqual(session.messages, before);
  assert.equal(session.messages[1], before[1]);
  const unavailable = createSessionIntegrity({ store: { openOrCreate: async () => { throw new Error("no store"); } } });
  await assert.rejects(unavailable.executeToolCycle(session, use("toolu_1"), saying("done")), /no store/);
  assert.deepEqual(session.messages, before);
});

test("a session that exists is opened with the configuration", async () => {
  const store = await openStore("memory:");
  const first = createSessionIntegrity({ store });
  begin(text("user", "hi"), calling("toolu_1"), text("user", "well?"));
  assert.equal((await first.beforeAgentStart(session)).proceed, false);
  await first.close();
  const repairing = createSessionIntegrity({ store, autoRepair: true });
  assert.equal((await repairing.beforeAgentStart(session)).proceed, true);
  assert.ok(repairing.isSessionValid(session));
  await repairing.close();
});

test("sessions without work are closed when too many are open, and open again", async () => {
  const store = await openStore("memory:");
  let open = 0;
  let most = 0;
  const counting = { openOrCreate: async (...given) => {
    const durable = await store.openOrCreate(...given);
    const close = durable.close.bind(durable);
    durable.close = () => { open -= 1; return close(); };
    open += 1;
    most = Math.max(most, open);
    return durable;
  } };
  const layer = createSessionIntegrity({ store: counting });
  const sessions = Array.from({ length: 150 }, (_, at) => ({ sessionId: `many-${at}`, messages: [text("user", "hi")] }));
  for (const one of sessions) await layer.checkpoint(one);
  assert.ok(most < 80, `${most} sessions were open at once`);
  const checkpoints = await Promise.all(sessions.map((one) => layer.listCheckpoints(one)));
  assert.ok(checkpoints.every((list) => list.length === 1));
  await layer.close();
  assert.equal(open, 0);
});

test("a tool that returns nothing has an empty result", async () => {
  begin(text("user", "hi"));
  const done = await integrity.executeToolCycle(session, use("toolu_1"), { execute: async () => undefined });
  assert.deepEqual([done.success, done.result.content], [true, ""]);
});

test("a cycle that the host cannot persist is taken back", async () => {
  const full = { sessionId: "s-full", messages: [text("user", "hi")], persist: () => { throw new Error("disk full"); } };
  const done = await integrity.executeToolCycle(full, use("toolu_1"), saying("done"));
  assert.deepEqual(done, { success: false, error: "disk full", rolledBack: true });
  assert.deepEqual(full.messages, [text("user", "hi")]);
  full.persist = () => {};
  assert.ok((await integrity.executeToolCycle(full, use("toolu_1"), saying("done"))).success);
  assert.equal(full.messages.length, 3);
});

test("a tool that works on its own session is refused at once", async () => {
  begin(text("user", "hi"));
  const refused = await integrity.executeToolCycle(session, use("toolu_1"), { execute: () => integrity.checkpoint(session) });
  assert.equal(refused.success, false);
  assert.match(refused.error, /the session that runs it/);
  const other = { sessionId: "s-other", messages: [text("user", "hi")] };
  const allowed = await integrity.executeToolCycle(session, use("toolu_1"), { execute: () => integrity.checkpoint(other) });
  assert.ok(allowed.success);
  assert.ok((await integrity.checkpoint(session)).id);
});

test("outcomes have the form of the source document", async () => {
  begin(text("user", "hi"));
  const timed = { execute: async () => ({ output: "done", isError: false, durationMs: 5 }) };
  assert.equal((await integrity.executeToolCycle(session, use("toolu_1"), timed)).result.content, "done");
  const { details } = await integrity.handleError(session, "Overloaded");
  assert.deepEqual(Object.keys(details), ["advice"]);
  assert.equal((await integrity.reset({ sessionId: "s-empty", messages: [] }, { archive: true })).archived, true);
});

test("a session may have any name", async () => {
  for (const sessionId of ["user@example.com", "a/b", "ü", "", "x".repeat(600)]) {
    const one = { sessionId, messages: [text("user", "hi")] };
    const { id } = await integrity.checkpoint(one);
    assert.equal((await integrity.getCheckpoint(one, id)).id, id);
  }
});

test("verbose tells each operation by its name", async () => {
  const events = [];
  const layer = createSessionIntegrity({ verbose: true, log: (event) => events.push(event) });
  begin(text("user", "hi"));
  const { id } = await layer.checkpoint(session);
  await layer.executeToolCycle(session, use("toolu_1"), saying("done"));
  await layer.rollback(session, id);
  assert.deepEqual(events.map(({ event }) => event), ["checkpoint", "execute_tool_cycle", "rollback"]);
  await layer.close();
});
