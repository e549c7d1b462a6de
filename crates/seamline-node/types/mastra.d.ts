import type { AdapterOptions, Managed } from "./index.js";

/** An input processor of Mastra that repairs the prompt of each model call. */
export class SeamlineProcessor {
  constructor(options?: AdapterOptions & Managed);
  readonly id: "seamline";
  readonly name: "seamline";
  processLLMRequest(given: { prompt: any }): { prompt: any } | undefined;
}
