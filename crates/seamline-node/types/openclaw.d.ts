import type { AdapterOptions } from "./index.js";

/** Repairs messages of OpenClaw: the same list where nothing needs a repair. */
export function repairTranscript<T>(messages: T[], options?: AdapterOptions): T[];
/** The context engine for `api.registerContextEngine("seamline", …)`. */
export function seamlineContextEngine(options?: AdapterOptions, host?: { compact?: (given: any) => Promise<any> }): any;
