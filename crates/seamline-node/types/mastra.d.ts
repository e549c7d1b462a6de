import type { AdapterOptions } from "./index.js";

/** An input processor of Mastra that repairs the prompt of each model call. */
export class SeamlineProcessor {
  constructor(options?: AdapterOptions);
  readonly id: "seamline";
  readonly name: "seamline";
  processLLMRequest(given: { prompt: any }): { prompt: any } | undefined;
}
