// Every block of JavaScript or TypeScript in the documentation runs, those of frameworks against the fake provider.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

const ROOT = process.env.SEAMLINE_ROOT;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "seamline-docs-"));
const child = spawn(process.env.SEAMLINE_PROVIDER, ["0"], { stdio: ["ignore", "pipe", "ignore"] });
const url = await new Promise((resolve, reject) => {
  child.once("error", reject);
  createInterface({ input: child.stdout }).once("line", (line) => resolve(line.split(" ").at(-1)));
});
process.chdir(folder);
after(() => {
  child.kill();
  fs.rmSync(folder, { recursive: true });
});

const TOOL = "run_shell_command";
const asked = { role: "user", content: "run the probe" };

/** The names that a block of a framework takes from its program. Each history has an open call. */
const PROGRAMS = {
  ai: async () => {
    const { jsonSchema, tool } = await import("ai");
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const call = { type: "tool-call", toolCallId: "call_a", toolName: TOOL, input: {} };
    return {
      model: createOpenAICompatible({ name: "openai", baseURL: `${url}/openai/v1`, apiKey: "dummy" })("gpt-5"),
      tools: { [TOOL]: tool({ inputSchema: jsonSchema({ type: "object" }), execute: async () => "ok" }) },
      messages: [asked, { role: "assistant", content: [call] }, { role: "user", content: "go on" }],
      uiMessages: [
        { id: "1", role: "user", parts: [{ type: "text", text: "run the probe" }] },
        { id: "2", role: "assistant", parts: [{ type: `tool-${TOOL}`, toolCallId: "call_a", state: "input-available", input: {} }] },
        { id: "3", role: "user", parts: [{ type: "text", text: "go on" }] },
      ],
    };
  },
  "@openai/agents": async () => {
    const { Agent, setDefaultOpenAIClient, setTracingDisabled } = await import("@openai/agents");
    const { default: OpenAI } = await import("openai");
    const { SeamlineSession } = await import("seamline/openai-agents");
    setTracingDisabled(true);
    setDefaultOpenAIClient(new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: "dummy", maxRetries: 0 }));
    const session = new SeamlineSession({ store: "sqlite:agents.db", id: "s-1" });
    await session.addItems([asked, { type: "function_call", callId: "call_a", name: TOOL, arguments: "{}", status: "completed" }]);
    await session.close();
    return { agent: new Agent({ name: "probe", model: "gpt-5", instructions: "Run commands." }) };
  },
  langchain: async () => {
    const { AIMessage, HumanMessage } = await import("@langchain/core/messages");
    const { ChatOpenAI } = await import("@langchain/openai");
    const call = new AIMessage({ content: "", tool_calls: [{ type: "tool_call", id: "call_a", name: TOOL, args: {} }] });
    return {
      model: new ChatOpenAI({ model: "gpt-5", apiKey: "dummy", maxRetries: 0, configuration: { baseURL: `${url}/openai/v1` } }),
      tools: [],
      messages: [new HumanMessage("run the probe"), call, new HumanMessage("go on")],
    };
  },
  "seamline/mastra": async () => ({
    settings: {},
    Agent: class {
      constructor({ inputProcessors: [processor] }) {
        assert.equal(processor.processLLMRequest({ prompt: [asked] }), undefined);
      }
    },
    delegateCompactionToRuntime: async () => ({ ok: true, compacted: false }),
    api: { registerContextEngine: (name, make) => assert.equal(make().info.id, name) },
  }),
};

const blocks = (text) => [...text.matchAll(/^```(?:js|ts|mjs|javascript|typescript)\n([^]*?)^```/gm)].map(([, code]) => code);

let known = 0;
for (const page of ["docs/node.md", "crates/seamline-node/README.md", "README.md"]) {
  const found = blocks(fs.readFileSync(path.join(ROOT, page), "utf8"));
  known += found.length;
  found.forEach((code, index) => {
    test(`${page}: block ${index + 1} runs`, async (context) => {
      const failed = [];
      context.mock.method(console, "assert", (isTrue, why) => isTrue || failed.push(why ?? "an assertion"));
      context.mock.method(console, "log", () => {});
      const framework = Object.keys(PROGRAMS).find((name) => code.includes(`from "${name}"`));
      const given = framework ? await PROGRAMS[framework]() : {};
      Object.assign(globalThis, given);
      const file = path.join(import.meta.dirname, `block-${page.replaceAll("/", "-")}-${index}.mjs`);
      fs.writeFileSync(file, code);
      try {
        await import(file);
      } finally {
        fs.rmSync(file);
        for (const name of Object.keys(given)) delete globalThis[name];
      }
      assert.deepEqual(failed, []);
    });
  });
}

test("the pages have blocks for every framework", () => {
  assert.ok(known >= 12, `${known} blocks`);
});

test("without its line a block of a framework fails", async () => {
  const { generateText } = await import("ai");
  const { messages, model, tools } = await PROGRAMS.ai();
  await assert.rejects(generateText({ messages, model, tools, maxRetries: 0 }), /Tool result is missing/);
  const { messages: history, model: chat } = await PROGRAMS.langchain();
  await assert.rejects(chat.invoke(history), /must be followed by tool messages/);
});

test("the lines of frameworks are those that run against the frameworks", () => {
  const page = fs.readFileSync(path.join(ROOT, "docs/node.md"), "utf8");
  const script = fs.readFileSync(path.join(ROOT, "crates/xtask/clients/frameworks.mjs"), "utf8");
  for (const line of ["prepareStep: repairStep()", "callModelInputFilter: repairInput()", "middleware: [seamlineMiddleware()]"]) {
    assert.ok(page.includes(line) && script.includes(line), line);
  }
});
