// Adapters keep what users, models and tools wrote: a repair of a text changes that text only.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { repairModelMessages, repairStep, repairUIMessages, seamlineMiddleware as middlewareOfModels } from "seamline/ai-sdk";
import { repairMessages } from "seamline/langchain";
import { SeamlineProcessor } from "seamline/mastra";
import { repairInput, repairItems } from "seamline/openai-agents";
import { repairTranscript, seamlineContextEngine } from "seamline/openclaw";
import { SeamlinePlugin } from "seamline/opencode";
import { seamlineExtension } from "seamline/pi";

const HALF = "cut \ud83d";
const MENDED = "cut \ufffd";
const text = (value) => ({ type: "text", text: value });
const image = { type: "image", image: "data:image/png;base64,AAAA" };
const user = { role: "user", content: "go" };
const call = (id = "call_1") => ({ role: "assistant", content: [text("Let me"), { type: "tool-call", toolCallId: id, toolName: "read", input: {} }] });
const result = (output, id = "call_1") => ({ role: "tool", content: [{ type: "tool-result", toolCallId: id, toolName: "read", output }] });

test("AI SDK: a half character beside an image is replaced, and the image stays", () => {
  const [message] = repairModelMessages([{ role: "user", content: [text(HALF), image, text("what is it?")] }]);
  assert.deepEqual(message.content, [text(MENDED), image, text("what is it?")]);
  assert.equal(message.content[1], image);
  const [split] = repairModelMessages([{ role: "user", content: [text("a\ud83d"), text("\ude00b"), image] }]);
  assert.deepEqual(split.content, [text("a\ufffd"), text("\ufffdb"), image]);
  assert.deepEqual(repairModelMessages([{ role: "user", content: HALF }]), [{ role: "user", content: MENDED }]);
  const reasoning = { type: "reasoning", text: "hm" };
  const [, said] = repairModelMessages([user, { role: "assistant", content: [reasoning, text(HALF), call().content[1]] }, result({ type: "text", value: "ok" })]);
  assert.deepEqual(said.content, [reasoning, text(MENDED), call().content[1]]);
});

test("AI SDK: the text of a result is repaired inside its parts", () => {
  const repaired = (output) => repairModelMessages([user, call(), result(output)])[2].content[0].output;
  assert.deepEqual(repaired({ type: "text", value: HALF }), { type: "text", value: MENDED });
  assert.deepEqual(repaired({ type: "error-text", value: HALF }), { type: "error-text", value: MENDED });
  const media = { type: "media", data: "AAAA", mediaType: "image/png" };
  assert.deepEqual(repaired({ type: "content", value: [media, text(HALF)] }), { type: "content", value: [media, text(MENDED)] });
  const orphan = repairModelMessages([user, result({ type: "content", value: [media, text("real")] })]);
  assert.ok(JSON.stringify(orphan).includes("AAAA") && JSON.stringify(orphan).includes("real"));
});

test("LangChain: texts are repaired inside their blocks", () => {
  const url = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const turn = new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id: "c1", name: "read", args: {} }] });
  const given = [
    new SystemMessage(HALF),
    new HumanMessage({ content: [text(HALF), url], name: "ann", id: "m1" }),
    turn,
    new ToolMessage({ tool_call_id: "c1", name: "read", content: [url, text(HALF)] }),
    new AIMessage({ content: [text(HALF)], id: "m2" }),
    new HumanMessage(HALF),
  ];
  const repaired = repairMessages(given);
  assert.deepEqual(repaired.map((message) => message.content), [MENDED, [text(MENDED), url], "", [url, text(MENDED)], [text(MENDED)], MENDED]);
  assert.deepEqual([repaired[0].getType(), repaired[1].name, repaired[1].id, repaired[4].id], ["system", "ann", "m1", "m2"]);
  assert.equal(repaired[2], turn);
  assert.equal(repairMessages(repaired), repaired);
  const orphan = repairMessages([new HumanMessage("go"), new ToolMessage({ tool_call_id: "c9", content: [text("real"), url] }), new HumanMessage("go on")]);
  assert.ok(JSON.stringify(orphan).includes("AAAA") && JSON.stringify(orphan).includes("real"));
});

test("OpenAI Agents: texts are repaired inside their parts", () => {
  const part = (value) => ({ type: "input_text", text: value });
  const picture = { type: "input_image", image: "data:image/png;base64,AAAA", detail: "high" };
  const asked = { role: "user", content: [part(HALF), picture] };
  const made = { type: "function_call", callId: "c1", name: "read", arguments: "{}", status: "completed" };
  const answered = (output) => ({ type: "function_call_result", callId: "c1", name: "read", status: "completed", output });
  assert.deepEqual(repairItems([asked])[0], { role: "user", content: [part(MENDED), picture] });
  assert.deepEqual(repairItems([user, made, answered({ type: "text", text: HALF })])[2], answered({ type: "text", text: MENDED }));
  assert.deepEqual(repairItems([user, made, answered(HALF)])[2], answered(MENDED));
  assert.deepEqual(repairItems([user, made, answered([picture, part(HALF)])])[2], answered([picture, part(MENDED)]));
  const said = { role: "assistant", status: "completed", content: [{ type: "output_text", text: HALF, providerData: { annotations: [] } }, { type: "refusal", refusal: "no" }] };
  assert.deepEqual(repairItems([user, said])[1].content, [{ ...said.content[0], text: MENDED }, said.content[1]]);
  const orphan = repairItems([user, answered([part("real"), picture]), user]);
  assert.deepEqual(orphan.map(({ role }) => role), ["user", "user", "user"]);
  assert.ok(JSON.stringify(orphan).includes("real") && JSON.stringify(orphan).includes("AAAA"), JSON.stringify(orphan));
});

/** A clean history with every kind of item that the SDK has. */
const everything = () => [
  { role: "system", content: "be brief" },
  { type: "message", role: "user", content: [{ type: "input_text", text: "go" }, { type: "input_image", image: "https://example.com/a.png" }, { type: "input_file", file: { id: "file_1" } }, { type: "audio", audio: "AAAA" }] },
  { type: "reasoning", id: "rs_1", content: [{ type: "input_text", text: "hm" }], providerData: { encryptedContent: "sealed" } },
  { type: "function_call", id: "fc_1", callId: "c1", name: "read", arguments: "{}", status: "completed", providerData: { x: 1 } },
  { type: "function_call_result", callId: "c1", name: "read", status: "completed", output: [{ type: "input_text", text: "ok" }, { type: "input_image", image: { id: "file_2" } }] },
  { type: "computer_call", id: "cu_1", callId: "c2", status: "completed", action: { type: "screenshot" }, providerData: {} },
  { type: "computer_call_result", callId: "c2", output: { type: "computer_screenshot", data: "data:image/png;base64,AAAA" } },
  { type: "shell_call", id: "sh_1", callId: "c3", status: "completed", action: { commands: ["ls"], timeoutMs: 5 } },
  { type: "shell_call_output", callId: "c3", output: [{ stdout: "a", stderr: "", outcome: { type: "exit", exitCode: 0 } }] },
  { type: "apply_patch_call", id: "ap_1", callId: "c4", status: "completed", operation: { type: "delete_file", path: "a" } },
  { type: "apply_patch_call_output", callId: "c4", status: "completed", output: "done" },
  { type: "hosted_tool_call", id: "ws_1", name: "web_search_call", status: "completed", providerData: { type: "web_search_call" } },
  { type: "unknown", id: "x1", providerData: { type: "brand_new", value: 1 } },
  { type: "from_the_future", callId: "c9", payload: [1] },
  { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] },
];

test("OpenAI Agents: a clean history with all kinds of items is the same list", () => {
  const items = everything();
  assert.equal(repairItems(items), items);
});

test("OpenAI Agents: each kind of call gets a result of its own kind, and other items stay", () => {
  const results = new Set(["function_call_result", "computer_call_result", "shell_call_output", "apply_patch_call_output"]);
  const given = everything().filter(({ type }) => !results.has(type));
  const repaired = repairItems(given);
  assert.deepEqual(given.filter((item) => !repaired.includes(item)), []);
  const made = repaired.filter((item) => !given.includes(item));
  assert.deepEqual(made.map(({ type, callId }) => [type, callId]).sort(), [["apply_patch_call_output", "c4"], ["computer_call_result", "c2"], ["function_call_result", "c1"], ["shell_call_output", "c3"]]);
  const [shell] = made.filter(({ type }) => type === "shell_call_output");
  assert.deepEqual(Object.keys(shell.output[0]).sort(), ["outcome", "stderr", "stdout"]);
  assert.ok("exitCode" in shell.output[0].outcome);
  assert.match(made.find(({ type }) => type === "computer_call_result").output.data, /^data:image/);
  assert.equal(repairItems(repaired), repaired, "a repair settles");
});

const unreadable = () => { const message = { role: "user" }; Object.defineProperty(message, "content", { enumerable: true, get() { throw new Error("secret"); } }); return message; };

test("adapters let what they cannot read pass, and say so", async () => {
  const handlers = {};
  const errors = [];
  const onError = (error) => errors.push(error);
  const messages = [unreadable(), user];
  seamlineExtension({ on: (name, handler) => { handlers[name] = handler; } }, { onError });
  const passed = {
    model: repairModelMessages(messages, { onError }),
    step: (await repairStep({ onError })({ messages })).messages,
    prompt: (await middlewareOfModels({ onError }).transformParams({ params: { prompt: messages } })).prompt,
    ui: repairUIMessages([null, { role: "user", parts: [] }], { onError })[0] === null ? messages : [],
    items: repairItems(messages, { onError }),
    input: (await repairInput({ onError })({ modelData: { input: messages } })).input,
    langchain: repairMessages(messages, { onError }),
    transcript: repairTranscript(messages, { onError }),
    engine: (await seamlineContextEngine({ onError }).assemble({ messages })).messages,
  };
  for (const [name, list] of Object.entries(passed)) assert.equal(list, messages, name);
  assert.equal(errors.length, 9);
  assert.equal(new SeamlineProcessor({ onError }).processLLMRequest({ prompt: messages }), undefined);
  assert.equal(handlers.context({ messages }), undefined);
  assert.equal(handlers.before_provider_request({ payload: { messages } }), undefined);
  const plugin = await SeamlinePlugin({}, { onError });
  await plugin["experimental.chat.messages.transform"]({}, { messages: [null, user] });
  assert.equal(errors.length, 13);
});

test("adapters throw where the caller asks for it, and always for options that do not exist", () => {
  const messages = [unreadable(), user];
  for (const repaired of [repairModelMessages, repairItems, repairMessages, repairTranscript]) {
    assert.throws(() => repaired(messages, { onFailure: "throw" }));
    assert.throws(() => repaired([user], { provder: "openai" }), /did you mean `provider`/);
  }
  for (const made of [repairStep, middlewareOfModels, repairInput, seamlineContextEngine]) {
    assert.throws(() => made({ provider: "antropic" }), (error) => error.code === "option");
    assert.throws(() => made({ onFailure: "never" }), (error) => error.code === "option");
  }
});

test("without onError the process is warned, once and without content", async () => {
  const warnings = [];
  const listener = (warning) => warnings.push(warning);
  process.on("warning", listener);
  repairModelMessages([unreadable()]);
  repairModelMessages([unreadable()]);
  await new Promise((resolve) => setImmediate(resolve));
  process.removeListener("warning", listener);
  const own = warnings.filter(({ name }) => name === "SeamlineWarning");
  assert.equal(own.length, 1);
  assert.ok(!own[0].message.includes("secret"));
});


test("LangChain: calls with arguments that cannot be read are calls, so that their results have one", () => {
  const bad = { type: "invalid_tool_call", id: "c1", name: "read", args: '{"pa', error: "cut" };
  const good = { type: "tool_call", id: "c2", name: "read", args: { path: "a" } };
  const turn = new AIMessage({ content: "let me", tool_calls: [good], invalid_tool_calls: [bad] });
  const answers = (...ids) => ids.map((id) => new ToolMessage({ tool_call_id: id, name: "read", content: "real" }));
  for (const results of [answers("c2"), answers("c2", "c1")]) {
    const given = [new HumanMessage("q"), turn, ...results, new HumanMessage("n")];
    const repaired = repairMessages(given);
    assert.deepEqual(repaired[1].tool_calls.map(({ id, args }) => [id, args]), [["c2", { path: "a" }], ["c1", { raw: '{"pa' }]]);
    assert.deepEqual([repaired[1].invalid_tool_calls, repaired[1].content], [[], "let me"]);
    assert.deepEqual(repaired.filter((message) => message.getType() === "tool").map((message) => message.tool_call_id).sort(), ["c1", "c2"]);
    assert.equal(repairMessages(repaired), repaired);
  }
});

test("LangChain: blocks of calls get the new ids of their calls, by their order", () => {
  const block = (id) => ({ type: "tool_use", id, name: "read", input: {} });
  const made = (id) => ({ type: "tool_call", id, name: "read", args: {} });
  const turn = new AIMessage({ content: [text("a"), block("c1"), block("c1")], tool_calls: [made("c1"), made("c1")] });
  const given = [new HumanMessage("q"), turn, new ToolMessage({ tool_call_id: "c1", content: "1" }), new ToolMessage({ tool_call_id: "c1", content: "2" }), new HumanMessage("n")];
  const repaired = repairMessages(given);
  const ids = repaired[1].tool_calls.map(({ id }) => id);
  assert.equal(new Set(ids).size, 2);
  assert.deepEqual(repaired[1].content.slice(1).map(({ id }) => id), ids);
  assert.deepEqual(repaired.slice(2, 4).map((message) => [message.tool_call_id, message.content]), [[ids[0], "1"], [ids[1], "2"]]);
});

test("ids that a provider refuses get another form, for that provider only", async () => {
  const id = "functions.read:0";
  const given = [user, call(id), result({ type: "text", value: "real" }, id), user];
  assert.equal(repairModelMessages(given), given);
  const step = (model) => repairStep()({ messages: given, model }).then(({ messages }) => messages);
  assert.equal(await step({ provider: "openai.chat" }), given);
  for (const model of [{ provider: "anthropic.messages" }, { provider: "amazon-bedrock" }, "anthropic/claude-sonnet-4-5"]) {
    const messages = await step(model);
    assert.deepEqual([messages[1].content[1].toolCallId, messages[2].content[0].toolCallId], ["functions_read_0", "functions_read_0"]);
    assert.equal(messages[2].content[0].output.value, "real");
    assert.equal(messages[0], user);
  }
  const twice = repairModelMessages([...given.slice(0, 3), ...given], { provider: "anthropic" });
  assert.deepEqual(twice.filter(({ role }) => role === "tool").map(({ content }) => content[0].toolCallId), ["functions_read_0", "functions_read_0_2"]);
  const turn = new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id, name: "read", args: {} }] });
  const chat = [new HumanMessage("q"), turn, new ToolMessage({ tool_call_id: id, content: "real" })];
  assert.equal(repairMessages(chat), chat);
  assert.equal(repairMessages(chat, { provider: "anthropic" })[2].tool_call_id, "functions_read_0");
});

test("OpenAI Agents: a result is right behind its call, as Chat Completions needs it", () => {
  const called = (callId) => ({ type: "function_call", callId, name: "read", arguments: "{}", status: "completed" });
  const answer = (callId) => ({ type: "function_call_result", callId, name: "read", status: "completed", output: { type: "text", text: "real" } });
  const [a, b, ra, rb] = [called("a"), called("b"), answer("a"), answer("b")];
  assert.deepEqual(repairItems([user, a, user, ra, user]), [user, a, ra, user, user]);
  assert.deepEqual(repairItems([user, a, b, rb, user, ra]), [user, a, b, rb, ra, user]);
  const apart = [user, a, ra, b, rb, user];
  assert.equal(repairItems(apart), apart);
});

test("AI SDK: an approval with a response is over after the next message of the user", () => {
  const asking = { role: "assistant", content: [...call().content, { type: "tool-approval-request", approvalId: "a1", toolCallId: "call_1" }] };
  const allowed = { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] };
  const open = [user, asking, allowed];
  assert.equal(repairModelMessages(open), open);
  const repaired = repairModelMessages([...open, user]);
  assert.ok(repaired.some(({ role, content }) => role === "tool" && content.some((part) => part.type === "tool-result" && part.toolCallId === "call_1")));
});
