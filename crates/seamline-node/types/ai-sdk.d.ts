import type { AdapterOptions, Managed } from "./index.js";

/** Repairs model messages: the same list where nothing needs a repair. */
export function repairModelMessages<T extends { role: string }>(messages: T[], options?: AdapterOptions & Managed): T[];
/** `prepareStep` that repairs the messages of every step; wraps another one. */
export function repairStep(inner: (step: any) => any, options?: AdapterOptions & Managed): (step: any) => Promise<any>;
export function repairStep(options?: AdapterOptions & Managed): (step: any) => Promise<any>;
/** Repairs UI messages: tool parts without a result get one that says so. */
export function repairUIMessages<T extends { role: string }>(messages: T[], options?: { text?: string } & Pick<AdapterOptions, "onError" | "onFailure">): T[];
/** Middleware for `wrapLanguageModel`. */
export function seamlineMiddleware(options?: AdapterOptions & Managed): {
  specificationVersion: "v4";
  transformParams: (given: { params: any }) => Promise<any>;
};
