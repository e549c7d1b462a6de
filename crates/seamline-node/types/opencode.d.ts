import type { AdapterOptions } from "./index.js";

/** A plugin of opencode that closes tool parts without an outcome before each request. */
export function SeamlinePlugin(input?: any, options?: AdapterOptions): Promise<Record<string, (...given: any[]) => Promise<void>>>;
/** Closes the open tool parts of all messages but the last, in place. */
export function closeOpenParts(messages: any[], text?: string): void;
