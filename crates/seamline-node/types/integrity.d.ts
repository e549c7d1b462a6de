import type { Checkpoint, ErrorRecovery, Operation, ResetResult, RollbackResult, Store, ValidationResult } from "./index.js";

export type { Checkpoint, ErrorRecovery, Operation, ResetResult, RollbackResult, ValidationResult };

export interface TextContent {
  type: "text";
  text: string;
}
export interface ToolUseContent {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
}
export interface ToolResultContent {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error?: boolean;
}
export type MessageContent = TextContent | ToolUseContent | ToolResultContent;
export interface Message {
  role: "user" | "assistant";
  content: MessageContent[] | string;
}

/** The session of a host. Methods change `messages` in place and call `persist` afterwards. */
export interface IntegritySession {
  sessionId: string;
  messages: Message[];
  persist?(): void | Promise<void>;
  archive?(): unknown;
}

export interface ToolExecutor {
  /** Returns a text, another value, or `{output, isError, durationMs}`. */
  execute(name: string, input: unknown): unknown;
}

export interface ToolCycleResult {
  success: boolean;
  result?: ToolResultContent;
  error?: string;
  rolledBack?: boolean;
}

export interface RepairAction {
  action: "remove_orphan" | "remove_incomplete" | "remove_duplicate_id" | "remove_empty_message";
  messageIndex: number;
  toolUseId?: string;
}

export interface RepairResult {
  repaired: boolean;
  repairs: RepairAction[];
  messages: Message[];
}

export interface Layer0Config {
  /** Whether integrity is checked at all; default true. */
  enabled: boolean;
  /** Whether each call is validated before it is sent; default true. */
  validateBeforeCall: boolean;
  /** Whether a session that is not valid is repaired; default false: the repair is offered. */
  autoRepair: boolean;
  /** How many committed checkpoints are kept; default 5. */
  checkpointRetention: number;
  /** Whether checkpoints keep the messages; default false. */
  snapshotMessages: boolean;
  /** Whether all events are logged; default false. */
  verbose: boolean;
}

/** One operation on a session: its name and its outcome, without content. */
export interface IntegrityEvent {
  event: string;
  session: string;
  messages: number;
  success?: boolean;
  rolledBack?: boolean;
  proceed?: boolean;
  action?: string;
  checkpoint?: string;
  error?: string;
}

export interface IntegrityConfig extends Partial<Layer0Config> {
  /** The store of checkpoints and incidents: a URL or an open store; default `memory:`. */
  store?: string | Store;
  /** Takes the events where `verbose` is on; without it they go to the standard error. */
  log?: (event: IntegrityEvent) => void;
}

export interface SessionIntegrity {
  readonly config: Layer0Config;
  validate(session: IntegritySession): ValidationResult;
  isSessionValid(session: IntegritySession): boolean;
  validateOrThrow(session: IntegritySession): Promise<void>;
  beforeAgentStart(session: IntegritySession): Promise<{ proceed: boolean; checkpoint?: string; validation?: ValidationResult; repairOffered?: boolean }>;
  checkpoint(session: IntegritySession, operation?: Operation): Promise<Checkpoint>;
  commit(session: IntegritySession, checkpointId: string): Promise<void>;
  getLatestCheckpoint(session: IntegritySession): Promise<Checkpoint | undefined>;
  getCheckpoint(session: IntegritySession, checkpointId: string): Promise<Checkpoint | undefined>;
  listCheckpoints(session: IntegritySession): Promise<Checkpoint[]>;
  prune(session: IntegritySession, keepCount?: number): Promise<number>;
  executeToolCycle(session: IntegritySession, toolUse: ToolUseContent, executor: ToolExecutor): Promise<ToolCycleResult>;
  executeTurn(session: IntegritySession, turn: Message, executor: ToolExecutor): Promise<{ success: boolean; results: ToolResultContent[]; error?: string; rolledBack?: boolean }>;
  handleError(session: IntegritySession, error: Error | string): Promise<Omit<ErrorRecovery, "details"> & { details?: Record<string, unknown> }>;
  repair(session: IntegritySession): Promise<RepairResult>;
  rollback(session: IntegritySession, checkpointId: string): Promise<RollbackResult>;
  reset(session: IntegritySession, options?: { archive?: boolean }): Promise<ResetResult>;
  incidents(session: IntegritySession): Promise<{ type: string; at: number; detail: string }[]>;
  close(): Promise<void>;
}

/** The session is not valid. */
export class SessionIntegrityError extends Error {
  constructor(validation: ValidationResult);
  readonly validation: ValidationResult;
}

/** Makes a layer of session integrity. */
export function createSessionIntegrity(config?: IntegrityConfig): SessionIntegrity;
