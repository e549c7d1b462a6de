"use strict";
// OpenClaw: a context engine that repairs the transcript of each request.

const { repair } = require("./bodies.cjs");
const { adapting } = require("./failing.cjs");

/** Repairs messages of OpenClaw: the same list where nothing needs a repair. */
function repairTranscript(messages, options) {
  const { guarded, repairing } = adapting("a transcript", options);
  return guarded(messages, () => (messages.length === 0 ? messages : repair(messages, { dialect: "openclaw", ...repairing }).body));
}

const notCompacted = async () => ({ ok: true, compacted: false, reason: "the host compacts the transcript" });

/** The promises that OpenClaw 2026.9 demands of an engine before it asks for a transcript: a commit of a turn that is atomic and idempotent. */
const SEMANTICS = { currentTurnFence: "before-current-turn-entry-v1", turnAdvancementIdempotency: "atomic-idempotent-v1" };

/**
 * The context engine for `api.registerContextEngine("seamline", …)`. The host keeps the transcript, and compacts it with
 * `compact`, which is `delegateCompactionToRuntime` of `openclaw/plugin-sdk/core`.
 */
function seamlineContextEngine(options = {}, { compact = notCompacted } = {}) {
  adapting("a transcript", options);
  return {
    info: { id: "seamline", name: "Seamline", ownsCompaction: false, transcriptSemantics: { ...SEMANTICS } },
    // The engine keeps nothing, so that each commit has the same effect, however often it is made.
    commitTurn: async () => ({ status: "committed" }),
    ingest: async () => ({ ingested: false }),
    assemble: async ({ messages }) => ({ messages: repairTranscript(messages, options), estimatedTokens: 0 }),
    compact,
  };
}

module.exports = { repairTranscript, seamlineContextEngine };
