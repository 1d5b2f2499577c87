// What the server speaks beside plain LSP, as `server/lsp/src/ext.rs` has it. `server/docs/lsp-extensions.md` says what
// each means.

export interface Hunk {
  readonly hunk: string;
  readonly task: string;
  readonly title: string;
  readonly number: number;
  readonly of: number;
  readonly state: "pending" | "conflicted";
  readonly start: number;
  readonly end: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly whole: string | null;
  readonly summary: string | null;
  readonly sensitive: string | null;
  readonly running: boolean;
}

export interface HunksParams {
  readonly uri: string;
  readonly version: number | null;
  readonly hunks: readonly Hunk[];
}

export interface Task {
  readonly task: string;
  readonly title: string;
  readonly state: string;
  readonly pending: number;
  readonly files: number;
  readonly outcome: string | null;
  readonly question: string | null;
  readonly checks: "checking" | "passing" | "failing" | "unknown" | null;
  readonly created: number;
  readonly finished: number | null;
  readonly emulated: boolean;
  readonly workspace: string;
}

export interface TasksParams {
  readonly daemon: "up" | "down";
  readonly running: number;
  readonly ready: number;
  readonly failed: number;
  readonly asking: number;
  readonly tasks: readonly Task[];
}

/** A hunk that waits, somewhere; in the order in which it is best read. */
export interface Stop {
  readonly hunk: string;
  readonly task: string;
  readonly uri: string;
  readonly line: number;
  readonly title: string;
  readonly state: string;
  readonly why: string;
}

export interface WalkResult {
  readonly items: readonly Stop[];
}

export interface TextResult {
  readonly text: string;
}

/** What the checks of a task say, as Markdown that is one block of text; none for a task without checks. */
export interface EvidenceResult {
  readonly text: string | null;
}
