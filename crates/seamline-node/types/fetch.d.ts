import type { AdapterOptions, Repaired, Response as Assembled } from "./index.js";

export interface FetchOptions extends AdapterOptions {
  /** Takes each repair that changed a body. */
  onRepair?: (repaired: Repaired<any>) => void;
  /** Takes each assembled response of a stream. */
  onResponse?: (response: Assembled) => void;
  /**
   * Takes bodies that cannot be read as a conversation, the first signed request (code `signed`), and errors of the other
   * callbacks. The request goes on in each case.
   */
  onError?: (error: unknown) => void;
  /** The fate of a body that no repair made valid. */
  onInvalid?: "send" | "throw";
}

/** A `fetch` that repairs the requests to providers on their way. Everything else passes through unchanged. */
export function repairingFetch(inner: typeof globalThis.fetch, options?: FetchOptions): typeof globalThis.fetch;
export function repairingFetch(options?: FetchOptions): typeof globalThis.fetch;
