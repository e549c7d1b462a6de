import type { AdapterOptions, Managed } from "./index.js";

/** Repairs messages of LangChain: the same list where nothing needs a repair. */
export function repairMessages<T>(messages: T[], options?: AdapterOptions & Managed): T[];
/** Middleware for `createAgent`: the messages of every model call are repaired. */
export function seamlineMiddleware(options?: AdapterOptions & Managed): any;
