import type { Options, Repaired, Response as Assembled, SeamlineError } from "./index.js";

export interface FetchOptions extends Options {
  /** Takes each repair that changed a body. */
  onRepair?: (repaired: Repaired<any>) => void;
  /** Takes each assembled response of a stream. */
  onResponse?: (response: Assembled) => void;
  /** Takes each body that cannot be read as a conversation. It is sent as it is. */
  onError?: (error: SeamlineError) => void;
  /** What happens to a body that no repair made valid. */
  onInvalid?: "send" | "throw";
}

/** A `fetch` that repairs the requests to providers on their way. Everything else passes through unchanged. */
export function repairingFetch(inner: typeof globalThis.fetch, options?: FetchOptions): typeof globalThis.fetch;
export function repairingFetch(options?: FetchOptions): typeof globalThis.fetch;
