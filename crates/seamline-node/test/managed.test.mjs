// Conversations that the provider keeps: a request has only what is new, and a result whose call is there is not damage.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, Runner, Usage, setTracingDisabled, tool } from "@openai/agents";
import { generateText, wrapLanguageModel } from "ai";
import { createAgent, createMiddleware } from "langchain";
import { z } from "zod";
import { repairModelMessages, repairStep, seamlineMiddleware } from "seamline/ai-sdk";
import { repairMessages, seamlineMiddleware as middlewareOfAgents } from "seamline/langchain";
import { SeamlineSession, repairInput, repairItems } from "seamline/openai-agents";

setTracingDisabled(true);
const HALF = "cut \ud83d";
const MENDED = "cut \ufffd";
const asked = { role: "user", content: "go" };
const called = (callId = "call_1") => ({ type: "function_call", callId, name: "read", arguments: "{}", status: "completed" });
const answered = (callId = "call_1", text = "REAL") => ({ type: "function_call_result", callId, name: "read", status: "completed", output: { type: "text", text } });
const said = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "let me" }] };

/** Runs an agent that calls a tool once, and gives the input of each request. */
async function inputsOf(filter, options) {
  const inputs = [];
  const read = tool({ name: "read", description: "reads", parameters: z.object({ path: z.string() }), execute: async () => "REAL" });
  const model = {
    async getResponse({ input }) {
      inputs.push(input);
      const output = inputs.length === 1 ? [{ ...called(), arguments: '{"path":"a"}' }] : [{ ...said, id: "msg_1" }];
      return { output, usage: new Usage(), responseId: `resp_${inputs.length}` };
    },
  };
  const runner = new Runner({ callModelInputFilter: filter });
  await runner.run(new Agent({ name: "a", model, tools: [read] }), "read it", options);
  return inputs;
}

test("OpenAI Agents: with an id of a conversation or a response, every result is sent as it is", async () => {
  for (const options of [{ conversationId: "conv_1" }, { previousResponseId: "resp_0" }]) {
    const alone = await inputsOf(undefined, options);
    assert.deepEqual(alone[1].map(({ type, output }) => [type, output.text]), [["function_call_result", "REAL"]]);
    for (const filter of [repairInput(), repairInput({ serverManaged: true })]) assert.deepEqual(await inputsOf(filter, options), alone);
  }
  const whole = await inputsOf(repairInput(), {});
  assert.deepEqual(whole[1].map(({ type }) => type), ["message", "function_call", "function_call_result"]);
});

test("OpenAI Agents: a list that shows earlier turns is whole, and its orphans become text", () => {
  const delta = [answered(), answered("call_2"), asked];
  assert.equal(repairItems(delta), delta);
  for (const whole of [[asked, answered(), asked], [answered(), said, asked], [called("call_2"), answered("call_2"), answered()]]) {
    const repaired = repairItems(whole);
    assert.ok(!repaired.some(({ type, callId }) => type === "function_call_result" && callId === "call_1"), JSON.stringify(whole));
    assert.ok(JSON.stringify(repaired).includes("REAL"));
    assert.equal(repairItems(whole, { serverManaged: true }), whole);
  }
  assert.notEqual(repairItems(delta, { serverManaged: false }), delta);
  assert.throws(() => repairItems(delta, { serverManagd: true }), { code: "option" });
});

test("OpenAI Agents: a delta is repaired in everything else", () => {
  assert.deepEqual(repairItems([answered("call_1", HALF), asked]), [answered("call_1", MENDED), asked]);
});

test("OpenAI Agents: the items of a session are whole", async () => {
  const session = new SeamlineSession({ store: "memory:", id: "s-whole" });
  await session.addItems([answered(), asked]);
  const items = await session.getItems();
  assert.deepEqual(items.map(({ type, role }) => role ?? type), ["user", "user"]);
  await session.close();
});

test("OpenAI Agents: what one response holds stays in its order, unless the model asks Chat Completions", async () => {
  const list = [asked, called("a"), said, called("b"), answered("a"), answered("b"), asked];
  assert.equal(repairItems(list), list);
  const { OpenAIChatCompletionsModel } = await import("@openai/agents");
  const model = new OpenAIChatCompletionsModel({}, "gpt-5");
  const { input } = await repairInput()({ modelData: { input: list }, agent: { model } });
  assert.deepEqual(input.map(({ callId, role }) => callId ?? role), ["user", "a", "a", "assistant", "b", "b", "user"]);
});

const RESPONSE = { id: "c", created: 1, model: "m", choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }], usage: {} };
const result = (value = "REAL") => ({ role: "tool", content: [{ type: "tool-result", toolCallId: "call_1", toolName: "read", output: { type: "text", value } }] });

/** Asks a real model of the AI SDK through the middleware, and gives the messages that it sends. */
async function sent(messages, { options, providerOptions, ...more } = {}) {
  const bodies = [];
  const fetch = async (_, { body }) => {
    bodies.push(JSON.parse(body));
    return Response.json(RESPONSE);
  };
  const inner = createOpenAICompatible({ name: "openai", baseURL: "https://api.openai.com/v1", apiKey: "x", fetch })("gpt-5");
  const model = wrapLanguageModel({ model: inner, middleware: seamlineMiddleware(options) });
  await generateText({ model, messages, providerOptions, maxRetries: 0, ...more });
  return bodies[0].messages;
}

test("AI SDK: results of a response that the provider keeps are sent as they are", async () => {
  const roles = async (...given) => (await sent(...given)).map(({ role, content }) => [role, content]);
  const continued = [{ openai: { previousResponseId: "resp_1" } }, { openai: { conversation: "conv_1" } }, { azure: { previousResponseId: "resp_1" } }];
  for (const providerOptions of continued) assert.deepEqual(await roles([result()], { providerOptions }), [["tool", "REAL"]]);
  assert.deepEqual(await roles([result(HALF)], { providerOptions: continued[0] }), [["tool", MENDED]]);
  assert.deepEqual((await roles([result()], {}))[0][0], "user");
  assert.deepEqual((await roles([result()], { providerOptions: continued[0], options: { serverManaged: false } }))[0][0], "user");
  const alone = [result()];
  assert.equal(repairModelMessages(alone, { serverManaged: true }), alone);
  const prepared = await repairStep(() => ({ providerOptions: continued[0] }))({ messages: alone });
  assert.equal(prepared.messages, alone);
});

test("LangChain: results of a response that the provider keeps are sent as they are", async () => {
  const inputs = [];
  const fetch = async (_, { body }) => {
    inputs.push(JSON.parse(body).input);
    const output = [{ type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text: "ok", annotations: [] }] }];
    return Response.json({ id: "resp_2", object: "response", created_at: 1, model: "gpt-5", status: "completed", output, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } });
  };
  const model = new ChatOpenAI({ model: "gpt-5", apiKey: "x", useResponsesApi: true, configuration: { fetch } });
  const messages = [new ToolMessage({ tool_call_id: "call_1", name: "read", content: "REAL" })];
  const continues = createMiddleware({ name: "Continues", wrapModelCall: (request, handler) => handler({ ...request, modelSettings: { previous_response_id: "resp_1" } }) });
  await createAgent({ model, tools: [], middleware: [continues, middlewareOfAgents()] }).invoke({ messages });
  assert.deepEqual(inputs[0].map(({ type, output }) => [type, output]), [["function_call_output", "REAL"]]);
  assert.equal(repairMessages(messages, { serverManaged: true }), messages);
});

const LONG = "c".repeat(60);
const longHistory = (id) => [
  asked,
  { role: "assistant", content: [{ type: "tool-call", toolCallId: id, toolName: "read", input: {} }] },
  { role: "tool", content: [{ ...result().content[0], toolCallId: id }] },
  asked,
];

test("AI SDK: the limit of OpenAI for ids holds for its own Chat Completions only", async () => {
  const step = async (model, id = LONG) => {
    const messages = longHistory(id);
    const repaired = (await repairStep()({ messages, model })).messages;
    return repaired === messages ? id : repaired[1].content[0].toolCallId;
  };
  const at = (baseURL) => createOpenAICompatible({ name: "openai", baseURL, apiKey: "x" })("m");
  assert.equal(await step(at("http://127.0.0.1:8000/v1")), LONG);
  assert.ok((await step(at("https://api.openai.com/v1"))).length <= 40);
  assert.equal(await step({ provider: "openai.responses" }), LONG);
  assert.ok((await step({ provider: "openai.responses" }, "c".repeat(70))).length <= 64);
  assert.equal(await step("openai/gpt-5"), LONG);
});

test("LangChain: the limit of OpenAI for ids holds for its own Chat Completions only", async () => {
  const idSent = async (options) => {
    const ids = [];
    const reads = createMiddleware({
      name: "Reads",
      wrapModelCall: (request) => {
        ids.push(request.messages[1].tool_calls[0].id);
        return new AIMessage("ok");
      },
    });
    const model = new ChatOpenAI({ model: "gpt-5", apiKey: "x", ...options });
    const call = { type: "tool_call", id: LONG, name: "read", args: {} };
    const messages = [new HumanMessage("go"), new AIMessage({ content: "", tool_calls: [call] }), new ToolMessage({ tool_call_id: LONG, content: "REAL" })];
    await createAgent({ model, tools: [], middleware: [middlewareOfAgents(), reads] }).invoke({ messages });
    return ids[0];
  };
  assert.equal(await idSent({ configuration: { baseURL: "http://127.0.0.1:8000/v1" } }), LONG);
  assert.equal(await idSent({ useResponsesApi: true }), LONG);
  assert.ok((await idSent({})).length <= 40);
});
