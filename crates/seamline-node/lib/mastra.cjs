"use strict";
// Mastra: a processor that repairs the messages of each request.

const { repairModelMessages } = require("./ai-sdk.cjs");
const { adapting } = require("./failing.cjs");
const { OWN } = require("./lens.cjs");

/** An input processor: `inputProcessors: [new SeamlineProcessor()]`. */
class SeamlineProcessor {
  #options;

  constructor(options = {}) {
    adapting("a prompt of Mastra", options, OWN);
    this.id = "seamline";
    this.name = "seamline";
    this.#options = options;
  }

  /** Repairs the prompt of each model call, as it is sent. */
  processLLMRequest({ prompt }) {
    const repaired = repairModelMessages(prompt, this.#options);
    return repaired === prompt ? undefined : { prompt: repaired };
  }
}

module.exports = { SeamlineProcessor };
