"use strict";
// pi: an extension that repairs the messages and the final payload of each request.

const { repair } = require("./bodies.cjs");
const { adapting } = require("./failing.cjs");

/** The extension: `export { seamlineExtension as default } from "seamline/pi"`. */
function seamlineExtension(pi, options) {
  const { guarded, repairing } = adapting("a request of pi", options);
  const repaired = (conversation, more) =>
    guarded(undefined, () => {
      const { body, changed } = repair(conversation, { ...more, ...repairing });
      return changed ? body : undefined;
    });
  pi.on("context", (event) => {
    const messages = repaired(event.messages, { dialect: "openclaw" });
    return messages && { messages };
  });
  pi.on("before_provider_request", (event) => repaired(event.payload));
}

module.exports = { seamlineExtension };
