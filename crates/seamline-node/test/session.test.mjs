import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { SeamlineError, Session, openStore } from "seamline";

const ask = { role: "user", content: "what is in it?" };
const turn = (...ids) => ({ role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "read", input: { path: id } })) });
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "seamline-node-"));
process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));

const stores = { memory: "memory:", sqlite: `sqlite:${folder}/sessions.db` };
const postgres = process.env.SEAMLINE_POSTGRES ?? process.env.SEAMLINE_TEST_POSTGRES;
if (postgres) stores.postgres = postgres;

test("sessions are tested on PostgreSQL", { skip: process.env.SEAMLINE_NO_POSTGRES ? "the machine has no PostgreSQL" : false }, () => {
  assert.ok(postgres, "name a database in SEAMLINE_TEST_POSTGRES, or set SEAMLINE_NO_POSTGRES");
});

for (const [name, url] of Object.entries(stores)) {
  const id = `node-${name}-${process.pid}`;

  test(`${name}: messages survive the process, and requests are valid`, async () => {
    const store = await openStore(url);
    const session = await store.create(id, { provider: "anthropic" });
    await session.append([ask]);
    const cycle = await session.executeToolCycle(turn("toolu_1", "toolu_2"), async (tool, input, { key }) => `${tool} ${input.path} ${key.length > 0}`);
    assert.ok(cycle.success);
    assert.deepEqual(cycle.outcomes.map(({ content }) => content), ["read toolu_1 true", "read toolu_2 true"]);
    await session.close();
    await assert.rejects(session.messages(), (error) => error instanceof SeamlineError && error.message.includes("closed"));

    const again = await store.open(id);
    assert.equal((await again.messages()).length, 3);
    const request = await again.request({ model: "claude-sonnet-4-5", max_tokens: 64 });
    assert.ok(request.sendable && request.body.messages.length === 3 && request.body.model === "claude-sonnet-4-5");
    assert.ok((await again.validate()).valid && (await again.check()).findings.length === 0);
    assert.ok((await again.info()).whole);
    const fork = await again.fork(`${id}-fork`);
    assert.deepEqual(await fork.messages(), await again.messages());
    await fork.close();
    await again.close();
    assert.ok((await store.list()).some(({ session: known }) => known === id));
  });

  test(`${name}: a rollback, a failed tool and a crash leave no half cycle`, async () => {
    const store = await openStore(url);
    const session = await store.create(`${id}-2`, { provider: "anthropic", policy: "clawos" });
    await session.append(ask);
    const checkpoint = await session.createCheckpoint("api_call");
    await session.append({ role: "assistant", content: "Roses are" });
    assert.deepEqual(await session.rollback(checkpoint.id, "the stream broke off"), { success: true, messagesRemoved: 1, newMessageCount: 1 });
    const failed = await session.executeToolCycle(turn("toolu_3"), () => { throw new Error("boom"); });
    assert.deepEqual([failed.success, failed.rolledBack, failed.error], [false, true, "boom"]);
    const { cycle, calls } = await session.beginCycle(turn("toolu_4"), { read: "read_only" });
    await session.beforeToolCall(cycle, calls[0].id);
    assert.equal((await session.unresolved()).length, 1);
    assert.deepEqual(await session.messages(), [ask]);
    await session.abort();
    assert.equal((await session.unresolved()).length, 0);
    await session.close();
  });
}

test("wrong ids, stores and operations are typed errors", async () => {
  const typed = (code) => (error) => error instanceof SeamlineError && error.code === code;
  await assert.rejects(openStore("mysql://localhost"), typed("store"));
  const store = await openStore("memory:");
  await assert.rejects(store.open("nothing"), typed("store"));
  await assert.rejects(store.create("", {}), SeamlineError);
  const session = await store.create("s-1", { provider: "anthropic" });
  await assert.rejects(session.append({ nothing: true }), typed("session"));
  await assert.rejects(session.createCheckpoint("lunch"), typed("option"));
  await assert.rejects(session.append("no json"), typed("session"));
  const cyclic = {};
  cyclic.self = cyclic;
  await assert.rejects(async () => session.append(cyclic), typed("input"));
  await session.close();
  await session.close();
});

test("operations of one session run in the order of their calls", async () => {
  const session = await Session.create("memory:", "s-2", { dialect: "openai_chat" });
  const contents = Array.from({ length: 200 }, (_, at) => `message ${at}`);
  await Promise.all(contents.map((content) => session.append({ role: "user", content })));
  assert.deepEqual((await session.messages()).map(({ content }) => content), contents);
  await session.close();
});

test("each result is durable when its tool ends, while other tools run", async () => {
  const store = await openStore("memory:");
  const session = await store.create("s-3", { provider: "anthropic" });
  await session.append(ask);
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  let isStaged;
  const cycle = session.executeToolCycle(turn("toolu_1", "toolu_2"), async (_, { path: id }) => {
    if (id === "toolu_1") return "fast";
    while (!isStaged) {
      const open = await session.unresolved();
      isStaged = open.some(({ call, truth }) => call === "toolu_1" && truth === "finished");
      if (!isStaged && open.length === 0) break;
    }
    await held;
    return "slow";
  });
  setTimeout(release, 300);
  const { success, outcomes } = await Promise.race([cycle, new Promise((_, reject) => setTimeout(reject, 5000, new Error("no result was staged")).unref())]);
  assert.deepEqual([success, isStaged, outcomes.map(({ content }) => content)], [true, true, ["fast", "slow"]]);
  await session.close();
});

test("a tool may return any value", async () => {
  const session = await Session.create("memory:", "s-4", { provider: "anthropic", policy: "clawos" });
  await session.append(ask);
  const cyclic = { name: "c" };
  cyclic.self = cyclic;
  const values = { a: undefined, b: { files: 2 }, c: [1], d: null, e: { output: { x: 1 }, isError: true }, f: { output: "text", code: 3 }, g: 7n, h: cyclic, i: new Proxy({}, { ownKeys() { throw new Error("no"); }, has() { throw new Error("no"); } }) };
  const given = { role: "assistant", content: Object.keys(values).map((id) => ({ type: "tool_use", id, name: "read", input: { id } })) };
  const { success, outcomes } = await session.executeToolCycle(given, (_, { id }) => values[id]);
  assert.ok(success);
  const said = outcomes.map(({ content, is_error }) => (is_error ? `error ${content}` : content));
  assert.deepEqual(said.slice(0, 7), ["", '{"files":2}', "[1]", "null", 'error {"x":1}', '{"output":"text","code":3}', "7n"]);
  assert.match(said[7], /name: 'c'/);
  await session.close();
});

test("a session is opened or created with the options that are given", async () => {
  const store = await openStore("memory:");
  const made = await store.openOrCreate("s-5", { provider: "anthropic", policy: "clawos" });
  await made.append([ask, turn("toolu_1"), ask]);
  assert.equal((await made.sessionStart()).repair_offered, true);
  await made.close();
  const again = await store.openOrCreate("s-5", { policy: { preset: "clawos", repair: { on_invalid: "repair" } } });
  assert.equal((await again.messages()).length, 3);
  await again.sessionStart();
  assert.ok((await again.validate()).valid, "the new policy repairs the session");
  const [one, two] = await Promise.allSettled([store.openOrCreate("s-6", { provider: "anthropic" }), store.openOrCreate("s-7", { provider: "anthropic" })]);
  assert.deepEqual([one.status, two.status], ["fulfilled", "fulfilled"]);
  await assert.rejects(store.openOrCreate("s-8", { provder: "anthropic" }), (error) => error.code === "option");
});

test("a compaction replaces messages without splitting a cycle", async () => {
  const session = await Session.create("memory:", "s-9", { provider: "anthropic" });
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] };
  await session.append([ask, turn("toolu_1"), result, { role: "assistant", content: "done" }]);
  const range = await session.beforeCompaction(0, 2);
  assert.deepEqual(range, { start: 0, end: 1 });
  await session.cancelCompaction();
  const whole = await session.beforeCompaction(0, 3);
  const summary = { role: "user", content: "they read a file" };
  assert.deepEqual(await session.finishCompaction(whole, summary), { start: 0, end: 3, taken_in: 0 });
  assert.deepEqual(await session.messages(), [summary, { role: "assistant", content: "done" }]);
  await session.close();
});

test("a store lists all of its sessions", async () => {
  const store = await openStore("memory:");
  const count = 10_050;
  for (let at = 0; at < count; at += 1) await (await store.create(`s-${at}`, { dialect: "openai_chat" })).close();
  assert.equal((await store.list()).length, count);
});
