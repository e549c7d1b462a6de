// The types of the package fit its use; `tsc` reads this file, and it never runs.

import { ResponseStream, SeamlineError, Session, check, classify, convert, endpoint, explain, openStore, presets, repair, type Finding, type Repaired } from "seamline";
import { repairModelMessages, repairStep, repairUIMessages, seamlineMiddleware } from "seamline/ai-sdk";
import { repairingFetch } from "seamline/fetch";
import { createSessionIntegrity, type IntegritySession, type ToolUseContent } from "seamline/integrity";
import { SeamlineSession, repairInput } from "seamline/openai-agents";
import { SeamlineProcessor } from "seamline/mastra";
import { seamlineContextEngine } from "seamline/openclaw";
import { SeamlinePlugin } from "seamline/opencode";
import { seamlineExtension } from "seamline/pi";
// @ts-expect-error an ES module has named exports only
import everything from "seamline";
// @ts-expect-error an ES module has named exports only
import fetching from "seamline/fetch";

const body = { model: "gpt-5", messages: [{ role: "user", content: "hello" }] };
const repaired: Repaired<typeof body> = repair(body, { provider: "openai", policy: "minimal" });
const same: typeof body = repaired.body;
const findings: Finding[] = check(JSON.stringify(same)).findings;
const text: string = convert("{}", { to: "anthropic" }).body;
const buffer: Buffer = convert(Buffer.from(text), { to: "anthropic" }).body;
// @ts-expect-error `to` is missing
convert(buffer, {});
// @ts-expect-error no option has this name
check(body, { provder: "openai" });
const verdict: string = classify(new Error("x"), { status: 400 }).class;
const documentation: string | undefined = explain(findings[0]?.code ?? verdict)?.documentation;
const stream: TransformStream = new ResponseStream({ provider: endpoint("POST", "https://x").provider ?? "openai" });

export async function durable(): Promise<number> {
  const store = await openStore("memory:");
  const session = await Session.create(store, "s-1", { policy: { preset: presets()[0], session: { snapshotMessages: true } } });
  await session.append({ role: "user", content: documentation });
  const result = await session.executeToolCycle([], async (name, input, { key }) => ({ output: `${name}${input}${key}` }), { read: "read_only" });
  try {
    const start = await session.beforeAgentStart();
    return start.proceed ? start.request.body.length : start.validation.errors?.length ?? result.outcomes.length;
  } catch (error) {
    if (error instanceof SeamlineError) console.log(error.code, error.hint);
    throw error;
  }
}

const fetcher: typeof fetch = repairingFetch(fetch, { onRepair: ({ actions }) => console.log(actions[0].code), onInvalid: "throw" });
const other: typeof fetch = repairingFetch({ provider: "groq" });
const host: IntegritySession = { sessionId: "s", messages: [{ role: "user", content: "hi" }] };
const use: ToolUseContent = { type: "tool_use", id: "toolu_1", name: "read", input: {} };
const done = createSessionIntegrity({ autoRepair: true }).executeToolCycle(host, use, { execute: async () => ({ output: "ok" }) });
const messages: { role: string }[] = repairModelMessages([{ role: "user" }]);
const forgiving = repairStep({ onError: (error) => console.log(error), onFailure: "pass" });
// @ts-expect-error there is no such treatment of failures
repairModelMessages(messages, { onFailure: "ignore" });
export { everything, fetching, forgiving, SeamlineProcessor, seamlineContextEngine, SeamlinePlugin, seamlineExtension };
export { done, fetcher, messages, other, repairInput, repairStep, repairUIMessages, SeamlineSession, seamlineMiddleware, stream };
