"use strict";
// The provider behind the model of a framework, and the form of ids that it demands.

/** Our names of providers of Chat Completions, by the names that frameworks use. */
const NAMES = {
  openai: "openai",
  azure: "azure",
  "azure-openai": "azure",
  azure_openai: "azure",
  mistral: "mistral",
  mistralai: "mistral",
  deepseek: "deepseek",
  groq: "groq",
  xai: "xai",
  cerebras: "cerebras",
  cohere: "cohere",
  fireworks: "fireworks",
  togetherai: "together",
  together: "together",
  openrouter: "openrouter",
  moonshotai: "moonshot",
};
/** The demands that all servers of Chat Completions share. */
const SHARED = "openai-compatible";

/** Providers that refuse an id with other characters, by a part of their names, and the longest id that each takes. */
const PATTERNED = [
  ["anthropic", Infinity],
  ["claude", Infinity],
  ["bedrock", 64],
];

/** The hosts of the providers whose demands we know by these names. Other servers use the same names for their models. */
const HOSTS = { openai: /(^|\.)openai\.com$/, azure: /(^|\.)azure\.com$/ };
/** The longest id of the Responses API, as an option that only adapters can give. */
const IDS_MAX = Symbol("the longest id");
const RESPONSES_IDS_MAX = 64;

/** The name of a model's provider, as its framework says it; undefined where it says none. */
function nameOf(model) {
  try {
    if (typeof model === "string") return model.includes("/") ? model.split("/")[0] : model.split(":")[0];
    const described = model?.getLsParams?.({}) ?? model?._getLsParams?.({});
    const said = described?.ls_provider ?? model?.provider;
    return typeof said === "string" ? said : undefined;
  } catch {
    return undefined;
  }
}

/** The options for the provider of a model. An option that is given counts. */
function forModel(model, options) {
  const name = nameOf(model)?.toLowerCase();
  if (!name || options?.provider) return options;
  if (idLimit(name)) return { ...options, provider: name.includes("bedrock") ? "bedrock" : "anthropic" };
  if (isResponses(name, model)) return { ...options, provider: SHARED, [IDS_MAX]: RESPONSES_IDS_MAX };
  const provider = NAMES[name] ?? NAMES[name.split(".")[0]] ?? SHARED;
  return { ...options, provider: isServedBy(provider, model) ? provider : SHARED };
}

/** Whether a model is asked by the Responses API, which pairs calls and results as Chat Completions does and takes longer ids. */
const isResponses = (name, model) => name.endsWith(".responses") || model?.useResponsesApi === true;

/** Whether the requests of a model go to the provider itself, as far as its address is known. */
function isServedBy(provider, model) {
  const host = HOSTS[provider];
  if (!host) return true;
  // The AI SDK sends a model that is only a text to a gateway.
  if (typeof model === "string") return !model.includes("/");
  const address = addressOf(model);
  return address === undefined || host.test(address);
}

/** The host that a model of the AI SDK or of LangChain asks; undefined where it does not say it. */
function addressOf(model) {
  try {
    const url = model.config?.url?.({ path: "/chat/completions", modelId: model.modelId }) ?? model.clientConfig?.baseURL;
    return url ? new URL(String(url)).hostname : undefined;
  } catch {
    return undefined;
  }
}

/** The longest id of a provider that refuses other characters than letters, digits, `_` and `-`. */
const idLimit = (name) => PATTERNED.find(([part]) => name?.toLowerCase().includes(part))?.[1];

/**
 * Repaired chat messages whose ids the provider takes: each id has its characters, and belongs to one call. The same list
 * where it takes all of them. The results of a message follow its calls.
 */
function withTakenIds(wires, { provider, [IDS_MAX]: longest }) {
  const limit = idLimit(provider);
  const most = limit ?? longest;
  if (!most) return wires;
  const taken = new Set();
  let own = new Map();
  const fresh = (id) => {
    // Without a pattern only the length of an id counts, and its calls are in different turns.
    if (!limit && id.length <= most) return id;
    const base = (limit ? id.replace(/[^\w-]/g, "_") : id).slice(0, Math.min(most, id.length));
    let made = base;
    for (let count = 2; taken.has(made); count += 1) made = `${base.slice(0, most === Infinity ? base.length : most - 6)}_${count}`;
    taken.add(made);
    own.set(id, made);
    return made;
  };
  const renamed = wires.map((wire) => {
    if (wire.tool_calls) {
      own = new Map();
      const ids = wire.tool_calls.map(({ id }) => (id ? fresh(id) : id));
      const isSame = ids.every((id, index) => id === wire.tool_calls[index].id);
      return isSame ? wire : { ...wire, tool_calls: wire.tool_calls.map((call, index) => ({ ...call, id: ids[index] })) };
    }
    const id = own.get(wire.tool_call_id) ?? wire.tool_call_id;
    return id === wire.tool_call_id ? wire : { ...wire, tool_call_id: id };
  });
  return renamed.every((wire, index) => wire === wires[index]) ? wires : renamed;
}

module.exports = { forModel, withTakenIds };
