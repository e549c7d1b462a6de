import type { AdapterOptions } from "./index.js";

/** Repairs messages of OpenClaw: the same list where nothing needs a repair. */
export function repairTranscript<T>(messages: T[], options?: AdapterOptions): T[];
/** A context engine of OpenClaw. */
export interface ContextEngine {
  readonly info: {
    id: "seamline";
    name: string;
    ownsCompaction: false;
    transcriptSemantics: { currentTurnFence: "before-current-turn-entry-v1"; turnAdvancementIdempotency: "atomic-idempotent-v1" };
  };
  ingest(given: any): Promise<{ ingested: false }>;
  assemble<T>(given: { messages: T[] }): Promise<{ messages: T[]; estimatedTokens: number }>;
  commitTurn(given: any): Promise<{ status: "committed" }>;
  compact(given: any): Promise<any>;
}
/**
 * The context engine for `api.registerContextEngine("seamline", …)`. `compact` is `delegateCompactionToRuntime` of
 * `openclaw/plugin-sdk/core`; without it the engine compacts nothing.
 */
export function seamlineContextEngine(options?: AdapterOptions, host?: { compact?: (given: any) => Promise<any> }): ContextEngine;
