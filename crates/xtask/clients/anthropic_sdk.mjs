// Histories of the Anthropic package: node anthropic_sdk.mjs URL CASE.

import { execSync } from "node:child_process";
import Anthropic from "@anthropic-ai/sdk";

const [url, name] = process.argv.slice(2);
const schema = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools = [{ name: "run_shell_command", description: "Runs a command.", input_schema: schema }];
const client = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: "dummy", maxRetries: 0 });
const request = (messages) => ({ model: "claude-sonnet-4-5", max_tokens: 100, messages, tools });

async function turn() {
  const messages = [{ role: "user", content: "run the probe" }];
  const said = await client.messages.create(request(messages));
  messages.push({ role: "assistant", content: said.content });
  const calls = said.content.filter((block) => block.type === "tool_use");
  const result = ({ id, input }) => ({
    type: "tool_result",
    tool_use_id: id,
    content: execSync(input.command).toString(),
  });
  messages.push({ role: "user", content: calls.map(result) });
  return client.messages.stream(request(messages)).finalText();
}

async function ask(...messages) {
  return (await client.messages.create(request(messages))).content;
}

const asked = { role: "user", content: "run the probe" };
const call = { type: "tool_use", id: "toolu_1", name: "run_shell_command", input: { command: "true" } };
const called = { role: "assistant", content: [call] };
const said = { role: "assistant", content: "I ran it." };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "probe-output-4711" };
const goOn = { role: "user", content: "go on" };

const cases = {
  turn,
  missing: () => ask(asked, called, goOn),
  orphan: () => ask(asked, said, { role: "user", content: [result] }, said, goOn),
};
console.log(await cases[name]());
