"use strict";
// opencode: a plugin that closes tool parts without an outcome before each request.

const { adapting } = require("./failing.cjs");

const OPEN = new Set(["pending", "running"]);
const UNKNOWN =
  "[synthetic] [outcome unknown] The tool call was interrupted before its result was recorded. It may have happened fully, partly, or not at all.";

/** Closes the open tool parts of all messages but the last, in place. */
function closeOpenParts(messages, text = UNKNOWN) {
  messages.slice(0, -1).forEach(({ parts }) => {
    for (const part of parts ?? []) {
      if (part.type !== "tool" || !OPEN.has(part.state?.status)) continue;
      const start = part.state.time?.start ?? 0;
      part.state = { ...part.state, status: "error", input: part.state.input ?? {}, error: text, time: { start, end: start } };
    }
  });
}

/** The plugin: `export { SeamlinePlugin } from "seamline/opencode"` in `.opencode/plugin/`. */
const SeamlinePlugin = async (_, options) => {
  const { guarded } = adapting("a request of opencode", options);
  return { "experimental.chat.messages.transform": async (__, output) => guarded(undefined, () => closeOpenParts(output.messages)) };
};

module.exports = { SeamlinePlugin, closeOpenParts };
