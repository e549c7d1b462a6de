// Every block of JavaScript or TypeScript in the documentation runs, those of frameworks against the fake provider.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
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

const SCRIPT = fs.readFileSync(path.join(ROOT, "crates/xtask/clients/frameworks.mjs"), "utf8");
const TOOL = "run_shell_command";
const asked = { role: "user", content: "run the probe" };

/** The names that a block of a framework takes from its program. Each history has an open call. */
const PROGRAMS = {
  openai: async () => ({ baseURL: `${url}/openai/v1`, apiKey: "dummy" }),
  "@anthropic-ai/sdk": async () => ({ anthropicURL: `${url}/anthropic`, apiKey: "dummy" }),
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
  }),
  "seamline/openclaw": async () => ({
    delegateCompactionToRuntime: async () => ({ ok: true, compacted: false }),
    api: { registerContextEngine: (name, make) => assert.equal(make().info.id, name) },
  }),
};

/** The blocks of code of a page, and the error of those that a block of text follows. */
const blocks = (text) =>
  [...text.matchAll(/^```(?:js|ts|mjs|javascript|typescript)\n([^]*?)^```\n(?:\n```text\n([^]*?)^```)?/gm)].map(([, code, error]) => ({ code, error: error?.trim() }));

const FOLDER = "docs/frameworks";
const guides = fs.readdirSync(path.join(ROOT, FOLDER)).filter((name) => name.startsWith("node-"));
const read = (page) => fs.readFileSync(path.join(ROOT, page), "utf8");

let known = 0;
for (const page of ["docs/node.md", "crates/seamline-node/README.md", "README.md", ...guides.map((name) => `${FOLDER}/${name}`)]) {
  const found = blocks(read(page));
  known += found.length;
  found.forEach(({ code, error }, index) => {
    test(`${page}: block ${index + 1} ${error ? "fails" : "runs"}`, async (context) => {
      const failed = [];
      context.mock.method(console, "assert", (isTrue, why) => isTrue || failed.push(why ?? "an assertion"));
      context.mock.method(console, "log", () => {});
      const frameworks = Object.keys(PROGRAMS).filter((name) => code.includes(`from "${name}"`) || (name === "langchain" && code.includes('from "seamline/langchain"')));
      const given = Object.assign({}, ...(await Promise.all(frameworks.map((name) => PROGRAMS[name]()))));
      Object.assign(globalThis, given);
      const file = path.join(import.meta.dirname, `block-${page.replaceAll("/", "-")}-${index}.mjs`);
      fs.writeFileSync(file, code);
      try {
        if (error) await assert.rejects(import(file), ({ message }) => message.includes(error) || assert.fail(message));
        else await import(file);
      } finally {
        fs.rmSync(file);
        for (const name of Object.keys(given)) delete globalThis[name];
      }
      assert.deepEqual(failed, []);
    });
  });
}

test("there is a page for every framework, and each shows an error and a line", () => {
  const page = read("docs/node.md");
  assert.equal(guides.length, 9);
  for (const name of guides) {
    assert.ok(page.includes(`(frameworks/${name})`), `docs/node.md links ${name}`);
    const text = read(`${FOLDER}/${name}`);
    assert.match(text, /^## Before$[^]*^```text$[^]*^## After$[^]*^## Limits$/m, name);
  }
  assert.ok(known >= 24, `${known} blocks`);
});

test("the errors of frameworks that are not installed here are those that run against them", () => {
  const texts = [...SCRIPT.matchAll(/"([^"\n]{30,})"/g)].map(([, text]) => text);
  for (const name of ["mastra", "pi"]) {
    const [, error] = read(`${FOLDER}/node-${name}.md`).match(/^```text\n([^]*?)^```/m);
    assert.ok(texts.some((text) => error.includes(text)), name);
  }
});

test("without its line a block of a framework fails", async () => {
  const { generateText } = await import("ai");
  const { messages, model, tools } = await PROGRAMS.ai();
  await assert.rejects(generateText({ messages, model, tools, maxRetries: 0 }), /Tool result is missing/);
  const { messages: history, model: chat } = await PROGRAMS.langchain();
  await assert.rejects(chat.invoke(history), /must be followed by tool messages/);
});

test("the lines of frameworks are those that run against the frameworks", () => {
  const lines = {
    "node-ai-sdk.md": "prepareStep: repairStep()",
    "node-openai-agents.md": "callModelInputFilter: repairInput()",
    "node-langchain.md": "middleware: [seamlineMiddleware()]",
    "node-mastra.md": "new SeamlineProcessor(",
    "node-pi.md": "seamlineExtension",
  };
  for (const [name, line] of Object.entries(lines)) assert.ok(read(`${FOLDER}/${name}`).includes(line) && SCRIPT.includes(line), line);
});

/** Runs the lines of installation of a page beside a clone, as a reader would, without the build and without the commands of OpenClaw. */
function installed(page, name) {
  const [, lines] = read(page).match(/^```sh\n(\(cd seamline[^]*?)^```/m);
  const [build, enter, ...rest] = lines.trim().split("\n");
  assert.equal(build, "(cd seamline && cargo build --profile dist -p seamline-node)");
  const home = path.join(folder, name);
  for (const part of ["crates/seamline-node", "integrations/openclaw"]) fs.cpSync(path.join(ROOT, part), path.join(home, "seamline", part), { recursive: true });
  fs.mkdirSync(path.join(home, "my-agent"));
  fs.writeFileSync(path.join(home, "my-agent/package.json"), JSON.stringify({ private: true, type: "module" }));
  const setting = rest.findIndex((line) => line.startsWith("export SEAMLINE_NATIVE="));
  const program = path.join(home, enter.replace(/^cd /, ""));
  const run = (command) => execFileSync("sh", ["-ec", command], { cwd: program, stdio: ["ignore", "pipe", "pipe"] }).toString();
  for (const line of rest.filter((line, index) => index !== setting && !line.startsWith("openclaw "))) run(line);
  const named = run(`${rest[setting].split("   #")[0]}; printf %s "$SEAMLINE_NATIVE"`).toString();
  assert.equal(path.normalize(named), path.join(fs.realpathSync(home), "seamline/target/dist/libseamline_node.so"));
  return { program, run };
}

test("the lines of installation work in a program outside of the repository", () => {
  const { program, run } = installed("docs/node.md", "node");
  // The peers are those of the program, and not of the checkout.
  const addPeer = () => {
    fs.mkdirSync(path.join(program, "node_modules/@langchain"), { recursive: true });
    fs.symlinkSync(path.join(import.meta.dirname, "../node_modules/@langchain/core"), path.join(program, "node_modules/@langchain/core"));
  };
  addPeer();
  const script = 'import { repair } from "seamline"; import { repairMessages } from "seamline/langchain"; console.log(repairMessages([]).length, repair([{ role: "tool", tool_call_id: "c", content: "x" }]).actions.length);';
  fs.writeFileSync(path.join(program, "agent.js"), script);
  assert.equal(run("node agent.js"), "0 1\n");
  // npm removes what it has not installed itself.
  run("npm install");
  addPeer();
  assert.equal(run("node agent.js"), "0 1\n", "a later installation keeps the copy");
});

test("the lines of installation for OpenClaw and opencode work", () => {
  const claw = installed(`${FOLDER}/node-openclaw.md`, "openclaw");
  assert.equal(claw.run('node -e "console.log(typeof require(\'seamline/openclaw\').seamlineContextEngine)"'), "function\n");
  const code = installed(`${FOLDER}/node-opencode.md`, "opencode");
  fs.renameSync(path.join(code.program, ".opencode/plugin/seamline.js"), path.join(code.program, ".opencode/plugin/seamline.mjs"));
  assert.equal(code.run("node -e \"import('./.opencode/plugin/seamline.mjs').then((plugin) => console.log(Object.keys(plugin).join()))\""), "SeamlinePlugin\n");
});
