import type { AdapterOptions } from "./index.js";

/** An extension of pi that repairs the messages and the final payload of each request. */
export function seamlineExtension(pi: { on(name: string, handler: (event: any) => any): void }, options?: AdapterOptions): void;
