// Histories of the openai package: node openai_sdk.mjs URL CASE.

import { execSync } from "node:child_process";
import OpenAI from "openai";

const [url, name] = process.argv.slice(2);
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools = [{ type: "function", function: { name: "run_shell_command", parameters } }];
const client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: "dummy", maxRetries: 0 });
const shell = (text) => execSync(JSON.parse(text).command).toString();

async function turn() {
  const messages = [{ role: "user", content: "run the probe" }];
  const said = (await client.chat.completions.create({ model: "gpt-5", messages, tools })).choices[0].message;
  messages.push(said);
  for (const call of said.tool_calls) {
    messages.push({ role: "tool", tool_call_id: call.id, content: shell(call.function.arguments) });
  }
  const stream = await client.chat.completions.create({ model: "gpt-5", messages, tools, stream: true });
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
}

async function chat(...messages) {
  return (await client.chat.completions.create({ model: "gpt-5", messages })).choices[0].message.content;
}

const asked = { role: "user", content: "run the probe" };
const call = { id: "call_1", type: "function", function: { name: "run_shell_command", arguments: "{}" } };
const called = { role: "assistant", content: null, tool_calls: [call] };
const answered = { role: "tool", tool_call_id: "call_1", content: "probe-output-4711" };
const goOn = { role: "user", content: "go on" };

const cases = {
  turn,
  missing: () => chat(asked, called, goOn),
  orphan: () => chat(asked, answered, goOn),
};
console.log(await cases[name]());
