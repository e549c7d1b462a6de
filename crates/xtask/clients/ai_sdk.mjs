// Histories of the Vercel AI SDK: node ai_sdk.mjs URL CASE.

import { execSync } from "node:child_process";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";
import { z } from "zod";

const [url, name] = process.argv.slice(2);
const model = createOpenAICompatible({ name: "openai", baseURL: `${url}/openai/v1`, apiKey: "dummy" })("gpt-5");
const run_shell_command = ai.tool({
  description: "Runs a command.",
  inputSchema: z.object({ command: z.string() }),
  execute: async ({ command }) => execSync(command).toString(),
});
// The function has another name in the versions before 7.
const stopWhen = (ai.isStepCount ?? ai.stepCountIs)(5);

async function ask(...messages) {
  const options = { model, messages, tools: { run_shell_command }, stopWhen, maxRetries: 0 };
  return (await ai.generateText(options)).text;
}

const asked = { role: "user", content: "run the probe" };
const toolName = "run_shell_command";
const call = { type: "tool-call", toolCallId: "call_1", toolName, input: { command: "true" } };
const output = { type: "text", value: "probe-output-4711" };
const result = { type: "tool-result", toolCallId: "call_1", toolName, output };
const goOn = { role: "user", content: "go on" };

const cases = {
  turn: () => ask(asked),
  missing: () => ask(asked, { role: "assistant", content: [call] }, goOn),
  orphan: () => ask(asked, { role: "tool", content: [result] }, goOn),
};
console.log(await cases[name]());
