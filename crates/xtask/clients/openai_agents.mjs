// Histories of OpenAI Agents: node openai_agents.mjs URL CASE.

import { execSync } from "node:child_process";
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

const [url, name] = process.argv.slice(2);
setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: "dummy", maxRetries: 0 }));
const shell = tool({
  name: "run_shell_command",
  description: "Runs a command.",
  parameters: z.object({ command: z.string() }),
  execute: async ({ command }) => execSync(command).toString(),
});
const agent = new Agent({ name: "probe", model: "gpt-5", instructions: "Run commands.", tools: [shell] });

async function ask(input) {
  return (await run(agent, input)).finalOutput;
}

const asked = { role: "user", content: "run the probe" };
const called = { type: "function_call", callId: "call_1", name: "run_shell_command", arguments: "{}", status: "completed" };
const output = { type: "text", text: "probe-output-4711" };
const answered = {
  type: "function_call_result",
  callId: "call_1",
  name: "run_shell_command",
  status: "completed",
  output,
};
const goOn = { role: "user", content: "go on" };

const cases = {
  turn: () => ask("run the probe"),
  missing: () => ask([asked, called, goOn]),
  orphan: () => ask([asked, answered, goOn]),
};
console.log(await cases[name]());
