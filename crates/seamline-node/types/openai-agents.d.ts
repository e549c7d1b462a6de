import type { AdapterOptions, Managed, Store } from "./index.js";

/** Repairs input items: the same list where nothing needs a repair. */
export function repairItems<T>(items: T[], options?: AdapterOptions & Managed): T[];
/** The value of `callModelInputFilter`; wraps another filter. */
export function repairInput(inner: (call: any) => any, options?: AdapterOptions & Managed): (call: any) => Promise<any>;
export function repairInput(options?: AdapterOptions & Managed): (call: any) => Promise<any>;
/** A session of the SDK on a durable store. */
export class SeamlineSession {
  constructor(options: { store: string | Store; id: string } & AdapterOptions);
  getSessionId(): Promise<string>;
  getItems(limit?: number): Promise<any[]>;
  addItems(items: any[]): Promise<void>;
  popItem(): Promise<any | undefined>;
  clearSession(): Promise<void>;
  close(): Promise<void>;
}
