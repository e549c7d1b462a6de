/// <reference types="node" />

/** An operation that failed, with the reason and the advice. A broken conversation is a finding and never an error. */
export class SeamlineError extends Error {
  constructor(code: string, message: string, more?: { hint?: string | null; cause?: unknown });
  /** The kind of the error: `input`, `body`, `option`, `stream`, `session`, `store`, `platform` or `native`. */
  readonly code: string;
  /** The advice for the caller. */
  readonly hint: string | undefined;
}

/** A conversation: bytes, a text, a request object, or a list of messages. */
export type Conversation = string | ArrayBufferView | ArrayBuffer | object;

export type Preset = "lossless" | "minimal" | "strict" | "opal" | "clawos" | "llxprt" | "kilroy" | "libr-agent";
/** The name of a preset, the text of a policy file, or an object with the members of a policy file. */
export type Policy = Preset | (string & {}) | { preset?: Preset; [section: string]: unknown };

export interface Options {
  /** The dialect, such as `openai_chat`; detected where it is not given. */
  dialect?: string;
  /** The provider, such as `anthropic`; detected from the model where it is not given. */
  provider?: string;
  /** The model, where the URL of the request names it and not the body. */
  model?: string;
  policy?: Policy;
  /** Whether the conversation is stored, and not a request. */
  kept?: boolean;
  order?: "oldest-first" | "newest-first";
  /** Signatures that the provider gave calls, by the ids of the calls. */
  signatures?: Record<string, string>;
}

/** The options of adapters. What an adapter cannot repair goes on as it is. */
export interface AdapterOptions extends Options {
  /** Takes our own errors. Without it the process gets a warning. */
  onError?: (error: unknown) => void;
  /** Whether an error of ours lets the original pass (default) or is thrown. */
  onFailure?: "pass" | "throw";
}

/** An option of adapters for requests that continue a conversation which the provider keeps. */
export interface Managed {
  /** Whether the provider keeps the earlier messages, so that a result without its call is not damage. */
  serverManaged?: boolean;
}

export interface ConvertOptions {
  /** The provider or the dialect of the new body. */
  to: string;
  from?: string;
  model?: string;
  policy?: Policy;
  reasoning?: "drop" | "text";
  kept?: boolean;
  order?: "oldest-first" | "newest-first";
}

export interface Finding {
  code: string;
  name: string;
  severity: "error" | "warning" | "info";
  message: string;
  pointer: string;
  message_index: number | null;
  block_index: number | null;
  call_id: string | null;
  /** The error that the provider would return. */
  predicts: string | null;
  fix: { safety: "safe" | "unsafe" | "display-only" | (string & {}); title: string } | null;
  related: { pointer: string; message_index: number }[];
  more?: number;
}

export interface RepairAction {
  code: string;
  action: string;
  pointer: string | null;
  message_index: number | null;
  call_id: string | null;
  from_call_id?: string;
  removed?: string;
  synthetic: boolean;
  before_hash: string | null;
  after_hash: string | null;
}

export interface Dropped {
  code: string;
  pointer: string | null;
  source: string;
  loss: string;
}

export interface Prefix {
  unchanged_bytes: number;
  first_changed_message: number | null;
  around_changed: boolean;
  invalidates: string[];
}

export interface RepairReport {
  dialect: string;
  provider: string;
  messages: number;
  found: Finding[];
  sendable: boolean;
  /** For each message of the new body the index of the original message; null for a new one. */
  origins: (number | null)[];
  note?: string;
  changed: boolean;
  passes: number;
  lossless: boolean;
  actions: RepairAction[];
  more_actions?: { code: string; count: number; dropped: number; lost: boolean }[];
  dropped: Dropped[];
  remaining: Finding[];
  prefix: Prefix;
}

/** The outcome of a check. */
export class Checked {
  private constructor();
  readonly dialect: string;
  readonly provider: string;
  readonly note?: string;
  readonly messages: number;
  readonly calls: number;
  readonly findings: Finding[];
  /** Whether the provider would accept the conversation. */
  get accepted(): boolean;
}

/** The outcome of a repair. */
export class Repaired<T = Conversation> {
  private constructor();
  /** The body to send, in the form in which it was given; the same object where nothing changed. */
  readonly body: T;
  readonly changed: boolean;
  get messages(): any[];
  get dialect(): string;
  get provider(): string;
  get note(): string | undefined;
  /** The violations of the given body. */
  get findings(): Finding[];
  get actions(): RepairAction[];
  get dropped(): Dropped[];
  /** The violations of the new body. */
  get remaining(): Finding[];
  get origins(): (number | null)[];
  /** Whether the policy lets the body be sent. */
  get sendable(): boolean;
  /** Whether all content is still in the body. */
  get lossless(): boolean;
  get report(): RepairReport;
  toJSON(): RepairReport;
}

/** Content or a setting that a conversion changed or left out. */
export interface ConversionLoss {
  what: string;
  pointer: string;
  fate: string;
  note: string;
}

/** The outcome of a conversion. */
export class Converted<T = unknown> {
  private constructor();
  readonly body: T;
  readonly from: { dialect: string; provider: string | null };
  readonly to: { dialect: string; provider: string | null };
  readonly note?: string;
  readonly messages: number;
  readonly complete: boolean;
  readonly lost: ConversionLoss[];
  readonly ids: { from: string; to: string }[];
  readonly tools: { from: string; to: string }[];
  readonly repairs: RepairAction[];
  readonly adjustments: RepairAction[];
  readonly remaining: Finding[];
}

export interface Verdict {
  class: string;
  certainty: "guess" | "status" | "known";
  /** The known error that matched. */
  known: { name: string; source: string; usual_status: number | null } | null;
  status: number | null;
  retry_after_ms: number | null;
  /** The provider's own sentence. */
  said: string;
  meaning: string;
  advice: string;
  /** The rules that find the cause in a body. */
  rules: unknown[];
  [more: string]: unknown;
}

/** Checks a conversation and returns its violations. */
export function check(input: Conversation, options?: Options): Checked;
/** Repairs a conversation as far as the policy allows. */
export function repair<T extends Conversation>(input: T, options?: Options): Repaired<T>;
/** Removes the oldest messages until the history is within the limits, and never splits a call from its result. */
export function safeTrim<T extends Conversation>(
  input: T,
  limits?: { maxMessages?: number; maxTokens?: number; count?: (message: any) => number } & Options,
): { body: T; changed: boolean; dialect: string; messages: number; tokens: number; removed: number[]; fits: boolean };
/** Removes what an untrusted client must not say: instructions, and calls and results that are not trusted. */
export function sanitize<T extends Conversation>(
  input: T,
  trust?: { keepInstructions?: boolean; calls?: "answered" | "none" | string[] } & Options,
): { body: T; changed: boolean; removed: { what: string; pointer: string; call_id: string | null }[]; actions: RepairAction[] };
/** Converts a conversation to another dialect. */
export function convert(input: string, options: ConvertOptions): Converted<string>;
export function convert(input: ArrayBufferView, options: ConvertOptions): Converted<Buffer>;
export function convert(input: object, options: ConvertOptions): Converted<any>;

export interface GivenError {
  text?: string;
  status?: number;
  headers?: Record<string, string>;
  provider?: string;
  dialect?: string;
}
/** Classifies an error of a provider. */
export function classify(error: string | Error | GivenError, more?: GivenError): Verdict;
/** Explains the code or the name of a finding. */
export function explain(
  code: string,
): { code: string; name: string; severity: string; group: string; documentation: string } | undefined;
/** The names of the presets of policies. */
export function presets(): Preset[];
/** The dialect, the model and the provider of a request by its method and URL. */
export function endpoint(
  method: string,
  url: string,
): { dialect: string | null; model: string | null; provider: string | null };

export interface StreamOptions {
  dialect?: string;
  provider?: string;
  framing?: "sse" | "json_lines" | "json_array" | "aws_event_stream";
  content_type?: string;
  policy?: Policy;
}

export interface Response {
  dialect: string;
  ending: "complete" | "length" | "truncated" | "filtered" | "failed" | "stalled" | "aborted";
  cut: string | null;
  stop_reason: string | null;
  /** Whether the response is complete and has no flaw. */
  well: boolean;
  message: any;
  /** The messages that a history keeps. */
  messages: any[];
  blocks: { kind: string; text: string; call_index: number | null }[];
  calls: { id: string; name: string; arguments: string; free: boolean; executable: boolean; why_not: string | null }[];
  findings: { code: string; name: string; severity: string; message: string; call_index: number | null; call_id: string | null; frame: number | null }[];
  refused: unknown[];
  filtered: { part: string; category: string | null; said: string | null; is_retry_useless: boolean; advice: string } | null;
  error: { class: string; name: string; text: string; advice: string; retry_after_ms: number | null } | null;
}

/** Assembles one streamed response while its bytes pass through unchanged. */
export class ResponseStream extends TransformStream<Uint8Array | string, Uint8Array | string> {
  constructor(options?: StreamOptions);
  /** The response, once the stream has ended. */
  readonly response: Promise<Response>;
  head(status: number, headers?: Headers | Record<string, string>): void;
  feed(piece: Uint8Array | ArrayBuffer | string): boolean;
  abort(): void;
  stall(): void;
  fail(text: string): void;
  get isOver(): boolean;
  finish(): Response;
}

export type Operation = "tool_cycle" | "compaction" | "api_call" | "manual";
export type Effect = "read_only" | "idempotent" | "probe" | "compensatable" | "unsafe";

export interface Checkpoint {
  id: string;
  sessionId: string;
  timestamp: number;
  messageIndex: number;
  contentHash: string;
  operation: Operation;
  state: "open" | "committed" | "rolled_back" | "expired";
  snapshot?: any[];
}

export interface ValidationResult {
  valid: boolean;
  error?: string;
  orphanedIds?: string[];
  incompleteIds?: string[];
  errors?: string[];
  firstIndex?: number;
}

export interface RollbackResult {
  success: boolean;
  messagesRemoved: number;
  newMessageCount: number;
}

export interface ResetResult {
  success: boolean;
  archived: boolean;
  remainingMessages: number;
  archive?: string;
}

export interface ErrorRecovery {
  action: "rolled_back" | "repaired" | "reset" | "validate_and_repair" | "escalate";
  message: string;
  checkpoint?: string;
  class: string;
  details?: string;
}

export interface CycleOutcome {
  tool_use_id: string;
  content: string;
  is_error: boolean;
  synthetic: boolean;
}

export interface ToolCycle {
  success: boolean;
  rolledBack: boolean;
  outcomes: CycleOutcome[];
  error?: string;
}

export interface SessionCall {
  id: string;
  name: string;
  input: any;
  key: string | null;
}

export interface SessionRequest {
  /** The body as text, and as an object. */
  text: string;
  body: any;
  actions: RepairAction[];
  found: Finding[];
  remaining: Finding[];
  sendable: boolean;
  note: string | null;
}

export interface SessionOptions {
  dialect?: string;
  provider?: string;
  title?: string;
  policy?: Policy;
}

export interface OpenOptions {
  take_over?: boolean;
  dialect?: string;
  /** Whether cycles that a crash left open are closed; true where it is not given. */
  recover?: boolean;
  policy?: Policy;
}

/** A store of sessions. */
export class Store {
  private constructor();
  list(): Promise<
    { session: string; commits: number; bytes: number; dialect: string | null; [more: string]: unknown }[]
  >;
  create(id: string, options?: SessionOptions): Promise<Session>;
  open(id: string, options?: OpenOptions): Promise<Session>;
  /** The dialect, the provider and the title are those of a new session; the others hold for one that exists, too. */
  openOrCreate(id: string, options?: SessionOptions & OpenOptions): Promise<Session>;
  erase(id: string): Promise<void>;
}

/** Opens the store at a URL: `sqlite:PATH`, `postgres://…` or `memory:`. */
export function openStore(url: string): Promise<Store>;

/** A durable conversation, open for writing. */
export class Session {
  private constructor();
  static create(store: string | Store, id: string, options?: SessionOptions): Promise<Session>;
  static open(store: string | Store, id: string, options?: OpenOptions): Promise<Session>;
  info(): Promise<{ id: string; dialect: string; epoch: number; whole: boolean; messages: number; health: string }>;
  messages(): Promise<any[]>;
  append(messages: object | string | (object | string)[]): Promise<void>;
  request(envelope?: object, more?: { provider?: string }): Promise<SessionRequest>;
  check(): Promise<{ findings: Finding[]; [more: string]: unknown }>;
  validate(): Promise<ValidationResult>;
  repair(): Promise<{ repaired: boolean; repairs: RepairAction[]; messages: any[]; remaining: Finding[]; [more: string]: unknown }>;
  undoRepair(): Promise<string>;
  createCheckpoint(operation?: Operation): Promise<Checkpoint>;
  commitCheckpoint(id: string): Promise<void>;
  rollback(id: string, reason?: string): Promise<RollbackResult>;
  checkpoints(): Promise<Checkpoint[]>;
  latestCheckpoint(): Promise<Checkpoint | null>;
  getCheckpoint(id: string): Promise<Checkpoint | null>;
  pruneCheckpoints(keep: number): Promise<number>;
  clearCheckpoints(): Promise<number>;
  /** Begins a compaction: the range to replace, without half a cycle. */
  beforeCompaction(start: number, end: number): Promise<{ start: number; end: number }>;
  /** Replaces the range that `beforeCompaction` gave. */
  finishCompaction(range: { start: number; end: number }, summary: object | string | (object | string)[]): Promise<{ start: number; end: number; taken_in: number }>;
  cancelCompaction(): Promise<number>;
  reset(options?: { archive?: boolean }): Promise<ResetResult>;
  beginCycle(messages: object | string | (object | string)[], effects?: Record<string, Effect>): Promise<{ cycle: string; calls: SessionCall[] }>;
  beforeToolCall(cycle: string, call: string): Promise<{ key: string }>;
  finishCall(cycle: string, call: string, output: string, isError?: boolean): Promise<unknown>;
  afterToolCall(cycle: string, call: string, output: string, isError?: boolean): Promise<CycleOutcome[] | null>;
  afterToolFailure(cycle: string, call: string, error: string): Promise<CycleOutcome[] | null>;
  commitCycle(cycle: string): Promise<CycleOutcome[]>;
  rollBackCycle(cycle: string, reason?: string): Promise<void>;
  /** `execute` returns a text, another value, or `{output, isError}`. */
  executeToolCycle(
    messages: object | string | (object | string)[],
    execute: (name: string, input: any, call: { id: string; key: string }) => unknown,
    effects?: Record<string, Effect>,
  ): Promise<ToolCycle>;
  recover(): Promise<{ cycles: number; rolled_back: number; run_again: number; unknown: number }>;
  unresolved(): Promise<{ cycle: string; call: string; tool: string; effect: Effect; truth: string }[]>;
  abort(): Promise<CycleOutcome[]>;
  handleError(error: string | Error | GivenError): Promise<ErrorRecovery>;
  sessionStart(): Promise<{ validation: ValidationResult | null; repair_offered: boolean; unresolved: unknown[] }>;
  beforeAgentStart(envelope?: object): Promise<
    | { proceed: true; request: { body: string; sendable: boolean }; checkpoint: string | null }
    | { proceed: false; validation: ValidationResult; repair_offered: boolean }
  >;
  agentEnd(end: object | object[] | { error: string | Error | GivenError }): Promise<{ committed: boolean; recovery?: ErrorRecovery }>;
  incidents(): Promise<{ type: string; severity: string; at: number; detail: string; [more: string]: unknown }[]>;
  repairContext(): Promise<{ lost_calls: { id: string; tool: string; returned?: string }[]; repairs: number; unanswered: string[] }>;
  takeRepairContext(): Promise<{ lost_calls: { id: string; tool: string; returned?: string }[]; repairs: number; unanswered: string[] }>;
  switchProvider(provider: string): Promise<void>;
  fork(id: string): Promise<Session>;
  close(): Promise<void>;
}
