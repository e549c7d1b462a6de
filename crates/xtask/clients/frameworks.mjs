// Frameworks for Node.js with a damaged history, alone and with the line that repairs it: node frameworks.mjs URL [NAME]…

import { repairModelMessages, repairStep, seamlineMiddleware as middlewareOfModels } from "seamline/ai-sdk";
import { repairingFetch } from "seamline/fetch";
import { repairInput } from "seamline/openai-agents";

const [url, ...names] = process.argv.slice(2);
const REAL = "probe-output-4711";
const sent = [];
const network = globalThis.fetch;
// Keeps the bodies that reach the provider.
const recording = async (input, init) => {
  sent.push(typeof init?.body === "string" ? init.body : Buffer.from(init?.body ?? "").toString());
  return network(input, init);
};
globalThis.fetch = recording;
/**
 * The damages, as lists of steps: `ask`, `half` (a text that ends in half a character), `call ID`, `bad ID` (arguments cut
 * off), `result ID`, `cut ID` (a result that ends in half a character), `go`.
 */
const DAMAGES = {
  missing: ["ask", "call a", "go"],
  orphan: ["ask", "result a", "go"],
  displaced: ["ask", "call a", "go", "result a", "go"],
  duplicate: ["ask", "call a", "result a", "result a", "go"],
  "repeated id": ["ask", "call a", "result a", "go", "call a", "go"],
  "bad arguments": ["ask", "bad a", "result a", "go"],
  "half character": ["half", "call a", "result a", "go"],
  "half result": ["ask", "call a", "cut a", "go"],
};

const toolName = "run_shell_command";
const id = (name) => `call_${name}`;
const SAID = { ask: "run the probe", go: "go on", half: "cut off \ud83d" };
const history = (steps, forms) =>
  steps.map((step) => {
    const [kind, name] = step.split(" ");
    return SAID[kind] ? forms.user(SAID[kind]) : kind === "result" ? forms.result(id(name), REAL) : kind === "cut" ? forms.result(id(name), `${REAL} \ud83d`) : forms.call(id(name), kind === "bad");
  });

const chat = {
  user: (content) => ({ role: "user", content }),
  call: (call, isBad) => ({ role: "assistant", content: null, tool_calls: [{ id: call, type: "function", function: { name: toolName, arguments: isBad ? '{"comm' : "{}" } }] }),
  result: (call, content) => ({ role: "tool", tool_call_id: call, content }),
};
const messages = {
  user: (content) => ({ role: "user", content }),
  call: (call, isBad) => ({ role: "assistant", content: [{ type: "tool_use", id: call, name: toolName, input: isBad ? '{"comm' : {} }] }),
  result: (call, content) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: call, content }] }),
};
const models = {
  user: (content) => ({ role: "user", content }),
  call: (call, isBad) => ({ role: "assistant", content: [{ type: "tool-call", toolCallId: call, toolName, input: isBad ? '{"comm' : {} }] }),
  result: (call, value) => ({ role: "tool", content: [{ type: "tool-result", toolCallId: call, toolName, output: { type: "text", value } }] }),
};
const items = {
  user: (content) => ({ role: "user", content }),
  call: (call, isBad) => ({ type: "function_call", callId: call, name: toolName, arguments: isBad ? '{"comm' : "{}", status: "completed" }),
  result: (call, text) => ({ type: "function_call_result", callId: call, name: toolName, status: "completed", output: { type: "text", text } }),
};
const { default: OpenAI } = await import("openai");
const { z } = await import("zod");
const openai = (fetch) => new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: "dummy", maxRetries: 0, fetch });

const FRAMEWORKS = {
  async "openai (fetch)"() {
    return (steps, isRepairing) =>
      openai(isRepairing ? repairingFetch(recording) : recording).chat.completions.create({ model: "gpt-5", messages: history(steps, chat) });
  },
  async "anthropic (fetch)"() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const tools = [{ name: toolName, input_schema: { type: "object" } }];
    return (steps, isRepairing) => {
      const fetch = isRepairing ? repairingFetch(recording) : recording;
      const client = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: "dummy", maxRetries: 0, fetch });
      return client.messages.create({ model: "claude-sonnet-4-5", max_tokens: 64, messages: history(steps, messages), tools });
    };
  },
  async "ai-sdk prepareStep"() {
    const { generate } = await aiSdk();
    return (steps, isRepairing) => generate({ messages: history(steps, models), ...(isRepairing ? { prepareStep: repairStep() } : {}) });
  },
  async "ai-sdk messages"() {
    const { generate } = await aiSdk();
    return (steps, isRepairing) =>
      generate({ messages: isRepairing ? repairModelMessages(history(steps, models)) : history(steps, models) });
  },
  async "ai-sdk middleware"() {
    const { ai, compatible, generate } = await aiSdk();
    const model = () => ai.wrapLanguageModel({ model: compatible(), middleware: middlewareOfModels() });
    return (steps, isRepairing) => generate({ messages: history(steps, models), ...(isRepairing ? { model: model() } : {}) });
  },
  async "openai-agents"() {
    const { Agent, OpenAIProvider, Runner, setTracingDisabled } = await import("@openai/agents");
    setTracingDisabled(true);
    const modelProvider = new OpenAIProvider({ openAIClient: openai(recording), useResponses: true });
    const agent = new Agent({ name: "probe", model: "gpt-5", instructions: "Run commands." });
    return (steps, isRepairing) =>
      new Runner({ modelProvider, tracingDisabled: true, ...(isRepairing ? { callModelInputFilter: repairInput() } : {}) }).run(agent, history(steps, items));
  },
  async langchain() {
    const { AIMessage, HumanMessage, ToolMessage } = await import("@langchain/core/messages");
    const { ChatOpenAI } = await import("@langchain/openai");
    const { createAgent, tool } = await import("langchain");
    const { seamlineMiddleware } = await import("seamline/langchain");
    const cut = (call) => ({
      content: "",
      invalid_tool_calls: [{ type: "invalid_tool_call", id: call, name: toolName, args: '{"comm', error: "cut" }],
      additional_kwargs: { tool_calls: [{ id: call, type: "function", function: { name: toolName, arguments: '{"comm' } }] },
    });
    const forms = {
      user: (content) => new HumanMessage(content),
      call: (call, isBad) =>
        new AIMessage(isBad ? cut(call) : { content: "", tool_calls: [{ type: "tool_call", id: call, name: toolName, args: {} }] }),
      result: (call, content) => new ToolMessage({ tool_call_id: call, name: toolName, content }),
    };
    const shell = tool(async () => REAL, { name: toolName, description: "Runs a command.", schema: z.object({}) });
    const model = () => new ChatOpenAI({ model: "gpt-5", apiKey: "dummy", maxRetries: 0, configuration: { baseURL: `${url}/openai/v1` } });
    return (steps, isRepairing) =>
      createAgent({ model: model(), tools: [shell], ...(isRepairing ? { middleware: [seamlineMiddleware()] } : {}) }).invoke({ messages: history(steps, forms) });
  },
};

/** Mastra and pi need a newer Node.js and much space, so they are not installed everywhere. */
async function mastra() {
  const { Agent } = await import("@mastra/core/agent");
  const { SeamlineProcessor } = await import("seamline/mastra");
  const { compatible } = await aiSdk();
  return (steps, isRepairing) => {
    const inputProcessors = isRepairing ? [new SeamlineProcessor({ onFailure: "throw" })] : [];
    return new Agent({ id: "probe", name: "probe", instructions: "Run commands.", model: compatible(), inputProcessors, maxRetries: 0 }).generate(history(steps, models));
  };
}
/** pi as its own runner of extensions drives it. */
async function pi() {
  const { ExtensionRunner, createExtensionRuntime } = await import("@mariozechner/pi-coding-agent");
  const { complete } = await import("@mariozechner/pi-ai");
  const { seamlineExtension } = await import("seamline/pi");
  const handlers = new Map();
  seamlineExtension({ on: (name, handler) => handlers.set(name, [handler]) }, { onFailure: "throw" });
  const extension = { path: "seamline", handlers, tools: new Map(), commands: new Map(), flags: new Map(), shortcuts: new Map() };
  const runner = new ExtensionRunner([extension], createExtensionRuntime(), process.cwd(), {}, {});
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const api = { api: "openai-completions", provider: "openai" };
  const model = { ...api, id: "gpt-5", name: "gpt-5", baseUrl: `${url}/openai/v1`, reasoning: false, input: ["text"], cost, contextWindow: 100_000, maxTokens: 64 };
  const usage = { ...cost, totalTokens: 0, cost: { ...cost, total: 0 } };
  const forms = {
    user: (content) => ({ role: "user", content, timestamp: 1 }),
    call: (call, isBad) => ({
      ...api, role: "assistant", model: "gpt-5", usage, stopReason: "toolUse", timestamp: 2,
      content: [{ type: "toolCall", id: call, name: toolName, arguments: isBad ? '{"comm' : {} }],
    }),
    result: (call, text) => ({ role: "toolResult", toolCallId: call, toolName, content: [{ type: "text", text }], isError: false, timestamp: 3 }),
  };
  return async (steps, isRepairing) => {
    const given = history(steps, forms);
    const sending = isRepairing ? await runner.emitContext(given) : given;
    const onPayload = async (payload) => (isRepairing ? runner.emitBeforeProviderRequest(payload) : payload);
    const { errorMessage } = await complete(model, { messages: sending, tools: [] }, { apiKey: "dummy", maxRetries: 0, onPayload });
    if (errorMessage) throw new Error(errorMessage);
  };
}

for (const [name, module, load] of [["mastra", "@mastra/core/agent", mastra], ["pi", "@mariozechner/pi-coding-agent", pi]]) {
  try {
    import.meta.resolve(module);
    FRAMEWORKS[name] = load;
  } catch {
    console.log(`${name} is not installed`);
  }
}

async function aiSdk() {
  const ai = await import("ai");
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const compatible = () => createOpenAICompatible({ name: "openai", baseURL: `${url}/openai/v1`, apiKey: "dummy" })("gpt-5");
  const tools = { [toolName]: ai.tool({ inputSchema: z.object({}), execute: async () => REAL }) };
  return { ai, compatible, generate: (options) => ai.generateText({ model: compatible(), maxRetries: 0, tools, ...options }) };
}

// The SDK rejects missing and displaced results before it asks any middleware.
const BEYOND = { "ai-sdk middleware": ["missing", "displaced", "repeated id"] };

/** The outcome of each damage without us: the start of the provider's error, or of the framework's own. */
const UNANSWERED = "An assistant message with 'tool_calls' must be followed by tool messages";
const UNREADABLE = "We could not parse the JSON body of your request.";
const ALONE_CHAT = {
  missing: UNANSWERED,
  orphan: "messages with role 'tool' must be a response",
  displaced: UNANSWERED,
  duplicate: "'tool_call_id' of 'call_a' not found",
  "repeated id": UNANSWERED,
  "bad arguments": "accepted",
  "half character": UNREADABLE,
  "half result": UNREADABLE,
};
const OPEN_USE = "`tool_use` ids were found without `tool_result` blocks immediately after";
const ALONE_MESSAGES = {
  missing: OPEN_USE,
  orphan: "unexpected `tool_use_id` found in `tool_result` blocks",
  displaced: OPEN_USE,
  duplicate: "unexpected `tool_use_id` found in `tool_result` blocks",
  "repeated id": OPEN_USE,
  "bad arguments": "tool_use.input",
  "half character": "The request body is not valid JSON",
  "half result": "The request body is not valid JSON",
};
const MISSING = "Tool result is missing for tool call call_a.";
const ALONE_MODELS = { ...ALONE_CHAT, missing: MISSING, displaced: MISSING, "repeated id": MISSING };
const ACCEPTED = Object.fromEntries(Object.keys(DAMAGES).map((damage) => [damage, "accepted"]));
const ALONE = {
  "openai (fetch)": ALONE_CHAT,
  "anthropic (fetch)": ALONE_MESSAGES,
  "ai-sdk prepareStep": ALONE_MODELS,
  "ai-sdk messages": ALONE_MODELS,
  "ai-sdk middleware": ALONE_MODELS,
  "openai-agents": {
    missing: "No tool output found for function call call_a.",
    orphan: "No tool call found for function call output with call_id call_a.",
    // The API pairs results anywhere behind their calls, and the SDK drops items whose id it has seen.
    displaced: "accepted",
    duplicate: "accepted",
    "repeated id": "accepted",
    "bad arguments": "accepted",
    "half character": UNREADABLE,
    "half result": UNREADABLE,
  },
  langchain: ALONE_CHAT,
  // pi answers open calls, and replaces halves of characters, but sends results without a call.
  pi: { ...ACCEPTED, orphan: ALONE_CHAT.orphan, displaced: ALONE_CHAT.orphan, duplicate: ALONE_CHAT.duplicate },
  // Mastra drops open calls and makes up calls for orphans, so the provider accepts the pairs that are left.
  mastra: { ...ACCEPTED, "half character": UNREADABLE, "half result": UNREADABLE },
};

const first = (error) => String(error?.message ?? error).split("\n")[0];

let wrong = 0;
console.log(`${"framework".padEnd(20)}${"damage".padEnd(15)}${"alone".padEnd(60)}with seamline`);
for (const [name, load] of Object.entries(FRAMEWORKS)) {
  if (names.length > 0 && !names.some((wanted) => name.startsWith(wanted))) continue;
  const ask = await load();
  for (const [damage, steps] of Object.entries(DAMAGES)) {
    if (BEYOND[name]?.includes(damage)) continue;
    const outcome = async (isRepairing) => {
      sent.length = 0;
      try {
        await ask(steps, isRepairing);
        return "accepted";
      } catch (error) {
        return first(error);
      }
    };
    const alone = await outcome(false);
    const repaired = await outcome(true);
    const isKept = !steps.some((step) => /^(result|cut)/.test(step)) || sent[0]?.includes(REAL);
    const isAsExpected = alone.includes(ALONE[name][damage]);
    const isRight = repaired === "accepted" && isKept && isAsExpected;
    if (!isRight) wrong += 1;
    console.log(`${name.padEnd(20)}${damage.padEnd(15)}${alone.slice(0, 58).padEnd(60)}${repaired.slice(0, 90)}${isKept ? "" : ", a real result is missing"}${isAsExpected ? "" : `, but alone not: ${ALONE[name][damage]}`}${isRight ? "" : "   WRONG"}`);
  }
}
process.exit(wrong > 0 ? 1 : 0);
