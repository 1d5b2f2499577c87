// Tasks in words: for the view, the status bar and notifications.

import type { Task, TasksParams } from "../lspExt.ts";
import { cut, visible } from "../text.ts";

const LONGEST = 80;
const LONGEST_QUESTION = 300;

const CHECKS = { checking: "checking", passing: "checks pass", failing: "checks fail", unknown: "checks unknown" };

/** How long that is. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(Math.floor(milliseconds / 1000), 0);
  if (seconds < 60) {
    return `${seconds} s`;
  }
  if (seconds < 3600) {
    return `${Math.floor(seconds / 60)} min`;
  }
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

export function title(task: Task): string {
  return cut(visible(task.title), LONGEST);
}

export function isActive(task: Task): boolean {
  return task.state === "queued" || task.state === "running" || isAsking(task);
}

/** Whether it waits for an answer. */
export function isAsking(task: Task): boolean {
  return task.state === "needs-input";
}

/** What its agent asks, in one line. */
export function question(task: Task): string {
  return cut(visible((task.question ?? "").split(/\s*\n\s*/u).join(" ").trim()), LONGEST_QUESTION);
}

/** What stands behind the title. */
export function line(task: Task, phase: string | undefined, now: number): string {
  const state = isAsking(task) ? "needs input" : task.state;
  const parts = [task.emulated ? `${state} (emulated)` : state];
  if (isAsking(task)) {
    parts.push(question(task));
  }
  if (isActive(task)) {
    if (phase !== undefined && phase !== state) {
      parts.push(visible(phase));
    }
    parts.push(duration(now - task.created));
  }
  if (task.pending > 0) {
    parts.push(counted(task.pending, task.files));
  }
  if (task.checks !== null) {
    parts.push(CHECKS[task.checks]);
  }
  if (task.state === "failed" && task.outcome !== null) {
    parts.push(cut(visible(task.outcome), LONGEST));
  }
  if (task.finished !== null) {
    parts.push(duration(now - task.finished));
  }
  return parts.join(" · ");
}

export function counted(hunks: number, files: number): string {
  return `${hunks} ${hunks === 1 ? "hunk" : "hunks"} in ${files} ${files === 1 ? "file" : "files"}`;
}

/** By this the menus of a task are chosen. */
export function context(task: Task): string {
  const parts = ["task", isActive(task) ? "active" : "over"];
  if (isAsking(task)) {
    parts.push("asking");
  }
  if (task.checks !== null) {
    parts.push("checked");
  }
  if (task.pending > 0) {
    parts.push("pending");
  }
  return parts.join("-");
}

/** The status bar's words. */
export function status(tasks: TasksParams | undefined): string {
  if (tasks === undefined) {
    return "Legwork";
  }
  const counts = [
    [tasks.asking, tasks.asking === 1 ? "needs input" : "need input"],
    [tasks.running, "running"],
    [tasks.ready, "ready"],
    [tasks.failed, "failed"],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return parts.length === 0 ? "Legwork" : `Legwork: ${parts.join(", ")}`;
}

/** The tasks that became ready or failed between two lists; none when there was no list before. */
export function ended(before: TasksParams | undefined, now: TasksParams): Task[] {
  if (before === undefined) {
    return [];
  }
  const known = new Map(before.tasks.map((task) => [task.task, task.state]));
  return now.tasks.filter((task) => {
    const was = known.get(task.task);
    const fresh = was === undefined ? before.daemon === "up" : ["queued", "running", "needs-input"].includes(was);
    const told = task.state === "failed" || task.state === "ready" || task.state === "done";
    return fresh && told;
  });
}

/** The tasks that ask something that they did not ask before; none when there was no list before. */
export function asked(before: TasksParams | undefined, now: TasksParams): Task[] {
  if (before === undefined) {
    return [];
  }
  const known = new Map(before.tasks.map((task) => [task.task, task]));
  return now.tasks.filter((task) => {
    const was = known.get(task.task);
    const fresh = was === undefined ? before.daemon === "up" : was.state !== task.state || was.question !== task.question;
    return isAsking(task) && fresh;
  });
}
