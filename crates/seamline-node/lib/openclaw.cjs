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

/** The context engine for `api.registerContextEngine("seamline", …)`. The host keeps and compacts the transcript. */
function seamlineContextEngine(options = {}, { compact = notCompacted } = {}) {
  adapting("a transcript", options);
  return {
    info: { id: "seamline", name: "Seamline", ownsCompaction: false },
    ingest: async () => ({ ingested: false }),
    assemble: async ({ messages }) => ({ messages: repairTranscript(messages, options), estimatedTokens: 0 }),
    compact,
  };
}

module.exports = { repairTranscript, seamlineContextEngine };
