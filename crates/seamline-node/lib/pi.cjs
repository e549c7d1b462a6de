"use strict";
// pi: an extension that repairs the messages and the final payload of each request.

const { repair } = require("./bodies.cjs");

/** The extension: `export { seamlineExtension as default } from "seamline/pi"`. */
function seamlineExtension(pi, options = {}) {
  pi.on("context", (event) => {
    const repaired = repair(event.messages, { dialect: "openclaw", ...options });
    return repaired.changed ? { messages: repaired.body } : undefined;
  });
  pi.on("before_provider_request", (event) => {
    try {
      const repaired = repair(event.payload, options);
      return repaired.changed ? repaired.body : undefined;
    } catch {
      // A payload that is not a conversation is for the provider to judge.
      return undefined;
    }
  });
}

module.exports = { seamlineExtension };
