// What is asked of hunks: where they are, which one is meant, how they read. No editor is needed for it.

import type { Hunk, Stop } from "./lspExt.ts";
import { block, cut, visible } from "./text.ts";

/** So many lines of a hunk are shown at its place; all of them in the overview. */
export const MOST_LINES = 300;
const LONGEST_LINE = 2000;
const LONGEST_TITLE = 80;

/** The lines that a hunk covers in the document, at least one; `count` is the document's number of lines. */
export function span(hunk: Hunk, count: number): { first: number; last: number } {
  const bottom = Math.max(count - 1, 0);
  const clamp = (line: number): number => Math.min(Math.max(line, 0), bottom);
  if (hunk.end > hunk.start) {
    return { first: clamp(hunk.start), last: clamp(hunk.end - 1) };
  }
  // Added lines belong behind a line, and only at the top of the document before one.
  const line = clamp(hunk.start - 1);
  return { first: line, last: line };
}

/** Whether the cursor is at the hunk. */
export function meets(hunk: Hunk, line: number, count: number): boolean {
  const { first, last } = span(hunk, count);
  return (line >= first && line <= last) || (hunk.start === hunk.end && line === hunk.start);
}

/** The hunk that is meant at a line: the one there, or else the one that was gone to, if it is of this document. */
export function meant(
  hunks: readonly Hunk[],
  line: number,
  count: number,
  wanted: string | undefined,
): Hunk | undefined {
  const there = hunks.filter((hunk) => meets(hunk, line, count));
  return there.find((hunk) => hunk.hunk === wanted) ?? there[0] ?? hunks.find((hunk) => hunk.hunk === wanted);
}

/** The hunk to look at after one was decided on: the next one below, else the first. */
export function after(hunks: readonly Hunk[], decided: Hunk): Hunk | undefined {
  const rest = hunks.filter((hunk) => hunk.hunk !== decided.hunk);
  return rest.find((hunk) => hunk.start >= decided.start) ?? rest[0];
}

/** What an agent made of a hunk that is gone: a new one of the same task where the old one was. */
export function heir(fresh: readonly Hunk[], gone: Hunk): Hunk | undefined {
  return fresh.find((hunk) => hunk.task === gone.task && hunk.start <= gone.end && hunk.end >= gone.start);
}

/** Its change as the lines of a diff. */
export function diff(hunk: Hunk): string[] {
  const all = [
    ...hunk.removed.map((line) => `-${line}`),
    ...hunk.added.map((line) => `+${line}`),
  ];
  const shown = all.slice(0, MOST_LINES).map((line) => cut(visible(line), LONGEST_LINE));
  if (all.length > MOST_LINES) {
    shown.push(`  … ${all.length - MOST_LINES} more lines`);
  }
  return shown;
}

/** What is said of a change beside its lines. */
export function remarks(hunk: Hunk): string[] {
  const said: string[] = [];
  if (hunk.whole !== null) {
    said.push(hunk.whole);
  }
  if (hunk.summary !== null) {
    said.push(hunk.summary);
  }
  if (hunk.state === "conflicted") {
    said.push("conflicted: you changed the same lines");
  }
  if (hunk.sensitive !== null) {
    said.push(`sensitive: ${hunk.sensitive}`);
  }
  if (hunk.running) {
    said.push("the task still runs");
  }
  return said.map((line) => cut(visible(line), LONGEST_LINE));
}

/** The body of its thread, in Markdown that holds only blocks of code. */
export function body(hunk: Hunk): string {
  const parts: string[] = [];
  const said = remarks(hunk);
  if (said.length > 0) {
    parts.push(block("text", said));
  }
  const lines = diff(hunk);
  if (lines.length > 0) {
    parts.push(block("diff", lines));
  }
  return parts.join("\n\n");
}

/** What its thread is called. */
export function label(hunk: Hunk): string {
  return `${hunk.number}/${hunk.of} · ${title(hunk.title)}`;
}

export function title(text: string): string {
  return cut(visible(text), LONGEST_TITLE);
}

/** The proposed line, where a hunk is one line for one. */
export function onlyLine(hunk: Hunk): string | undefined {
  const [line, ...more] = hunk.added;
  const single = line !== undefined && more.length === 0 && hunk.removed.length === 1 && hunk.whole === null;
  return single && hunk.state === "pending" ? cut(visible(line.trim()), 120) : undefined;
}

/** A change that has no lines in an open file, as a hunk of the read-only document that shows it. */
export function whole(stops: readonly Stop[], index: number, part: string): Hunk | undefined {
  const stop = stops[index];
  if (stop === undefined) {
    return undefined;
  }
  return {
    hunk: stop.hunk,
    task: stop.task,
    title: stop.title,
    number: index + 1,
    of: stops.length,
    state: stop.state === "conflicted" ? "conflicted" : "pending",
    start: stop.line,
    end: stop.line + 1,
    removed: [],
    added: [],
    whole: part === "base" ? "would be removed" : "is proposed",
    summary: stop.why === "" ? null : stop.why,
    sensitive: null,
    running: false,
  };
}

/** A `legwork:` address, in parts. */
export function address(path: string): { task: string; part: string; path: string } | undefined {
  const [, task, part, rest] = /^\/*([^/]+)\/([^/]+)\/?(.*)$/su.exec(path) ?? [];
  return task === undefined || part === undefined ? undefined : { task, part, path: rest ?? "" };
}
