// The speed of the npm package beside JSON and OpenClaw: node packages.mjs [ROUNDS]
//
// All contenders run in turn in every round. The number of a contender is its fastest round. `OPENCLAW` names the folder of its
// package.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { repair } from "../lib/index.mjs";

const MESSAGES = 1000;
/** Every so many turns a result is missing, an orphan is added, or a result comes twice. */
const DAMAGED = 20;
const OPTIONS = { dialect: "openai_chat", provider: "openai" };
const rounds = Number(process.argv[2] ?? 15);

/** A question, a call, its result and a response, in the sizes that coding agents have. */
function turn(number) {
  const id = `call_${String(number).padStart(8, "0")}`;
  const input = JSON.stringify({ path: `src/module_${number}/main.py`, lines: [number, number + 40] });
  const output = Array.from({ length: 24 }, (_, line) => `${line} def function_${line}(value: int) -> int: return value * ${number}`).join("\n");
  return [
    { role: "user", content: `Please look at module ${number} and tell me what its "main" function does. `.repeat(3) },
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "read_file", arguments: input } }] },
    { role: "tool", tool_call_id: id, content: output },
    { role: "assistant", content: `Module ${number} multiplies its argument; nothing else depends on it. `.repeat(4) },
  ];
}

function history(isDamaged) {
  const made = [];
  for (let number = 0; made.length < MESSAGES; number += 1) {
    const messages = turn(number);
    if (isDamaged && number % DAMAGED === 5) messages.splice(2, 1);
    else if (isDamaged && number % DAMAGED === 10) messages.splice(1, 1);
    else if (isDamaged && number % DAMAGED === 15) messages.splice(3, 0, { ...messages[2] });
    made.push(...messages);
  }
  return made;
}

/** The history in the form of OpenClaw. */
const openclaw = (messages) =>
  messages.map(({ role, content, tool_calls: calls, tool_call_id: toolCallId }) => {
    if (role === "tool") return { role: "toolResult", toolCallId, toolName: "read_file", content: [{ type: "text", text: content }], isError: false };
    if (!calls) return { role, content: [{ type: "text", text: content }] };
    return { role, content: calls.map(({ id, function: { name, arguments: input } }) => ({ type: "toolCall", id, name, arguments: JSON.parse(input) })) };
  });

const [clean, damaged] = [history(false), history(true)];
const contenders = {
  "JSON.stringify, clean": () => JSON.stringify(clean),
  "JSON.stringify and parse, clean": () => JSON.parse(JSON.stringify(clean)),
  "repair, clean objects": () => repair(clean, OPTIONS).body,
  "repair, damaged objects": () => repair(damaged, OPTIONS).body,
};
const bytes = { clean: Buffer.from(JSON.stringify(clean)), damaged: Buffer.from(JSON.stringify(damaged)) };
contenders["repair, clean bytes"] = () => repair(bytes.clean, OPTIONS).body;
contenders["repair, damaged bytes"] = () => repair(bytes.damaged, OPTIONS).body;
const theirRepair = await repairOfOpenClaw(process.env.OPENCLAW);
if (theirRepair) {
  const theirs = openclaw(damaged);
  const theirBytes = Buffer.from(JSON.stringify(theirs));
  contenders["OpenClaw, damaged objects"] = () => theirRepair(theirs);
  contenders["OpenClaw, damaged bytes"] = () => Buffer.from(JSON.stringify(theirRepair(JSON.parse(theirBytes)).messages));
  contenders["repair, damaged objects of OpenClaw"] = () => repair(theirs, { dialect: "openclaw" }).body;
  contenders["repair, damaged bytes of OpenClaw"] = () => repair(theirBytes, { dialect: "openclaw" }).body;
} else {
  console.log("OpenClaw is not measured: OPENCLAW does not name its package");
}

/** The repair of OpenClaw in the folder of its package. The names of its files and exports have no meaning. */
async function repairOfOpenClaw(folder) {
  if (!folder) return undefined;
  const dist = path.join(folder, "dist");
  for (const name of fs.readdirSync(dist).filter((name) => name.startsWith("session-transcript-repair-"))) {
    const module = await import(pathToFileURL(path.join(dist, name)).href);
    const found = Object.values(module).find((value) => value.name === "repairToolUseResultPairing");
    if (found) return found;
  }
  throw new Error(`${dist} has no repairToolUseResultPairing`);
}

const best = new Map(Object.keys(contenders).map((name) => [name, Infinity]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, work] of Object.entries(contenders)) {
    const start = process.hrtime.bigint();
    work();
    best.set(name, Math.min(best.get(name), Number(process.hrtime.bigint() - start) / 1e6));
  }
}
if (repair(clean, OPTIONS).changed || !repair(damaged, OPTIONS).changed) throw new Error("the histories are not what they should be");
const unit = best.get("JSON.stringify, clean");
for (const [name, time] of best) {
  console.log(`${name.padEnd(40)} ${time.toFixed(2).padStart(8)} ms  ${(time / unit).toFixed(2).padStart(6)} × JSON.stringify`);
}

/** The promised bounds: a contender, the one that it is compared with, and how many times as fast it has to be. */
const BOUNDS = [
  ["repair, clean objects", "JSON.stringify, clean", 1],
  ["repair, damaged bytes of OpenClaw", "OpenClaw, damaged bytes", 5],
  ["repair, damaged objects of OpenClaw", "OpenClaw, damaged objects", 1],
];
for (const [ours, theirs, bound] of BOUNDS.filter(([, theirs]) => best.has(theirs))) {
  const ratio = best.get(theirs) / best.get(ours);
  console.log(`${ours}: ${ratio.toFixed(2)} times as fast as ${theirs}; promised: at least ${bound}${ratio < bound ? "   MISSED" : ""}`);
}
