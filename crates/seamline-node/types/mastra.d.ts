import type { Options } from "./index.js";

/** An input processor of Mastra that repairs the prompt of each model call. */
export class SeamlineProcessor {
  constructor(options?: Options);
  readonly id: "seamline";
  readonly name: "seamline";
  processLLMRequest(given: { prompt: any }): { prompt: any } | undefined;
}
