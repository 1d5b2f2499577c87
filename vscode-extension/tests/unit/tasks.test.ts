// Tasks in words, and which of them are worth a notification.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Task, TasksParams } from "../../src/lspExt.ts";
import { asked, context, ended, line, status } from "../../src/tasks/words.ts";

function task(part: Partial<Task>): Task {
  return {
    task: "t",
    title: "fix it",
    state: "running",
    pending: 0,
    files: 0,
    outcome: null,
    question: null,
    checks: null,
    created: 0,
    finished: null,
    emulated: false,
    workspace: "/w",
    ...part,
  };
}

function list(...tasks: Task[]): TasksParams {
  const count = (state: string): number => tasks.filter((one) => one.state === state).length;
  return { daemon: "up", running: count("running"), ready: count("ready"), failed: count("failed"), asking: count("needs-input"), tasks };
}

test("a task in a line", () => {
  assert.equal(line(task({}), "starting the virtual machine", 65_000), "running · starting the virtual machine · 1 min");
  const ready = task({ state: "ready", pending: 1, files: 1, finished: 0, emulated: true });
  assert.equal(line(ready, undefined, 3000), "ready (emulated) · 1 hunk in 1 file · 3 s");
  assert.equal(line(task({ state: "failed", outcome: "exit\u001b 1", finished: 0 }), undefined, 0), "failed · exit⟨U+001B⟩ 1 · 0 s");
});

test("what an agent asks and what checks say is in the line", () => {
  const asking = task({ state: "needs-input", question: "Which?\n  \u202ea or b" });
  assert.equal(line(asking, "needs input", 0), "needs input · Which? ⟨U+202E⟩a or b · 0 s");
  const checked = task({ state: "ready", pending: 1, files: 1, checks: "failing" });
  assert.equal(line(checked, undefined, 0), "ready · 1 hunk in 1 file · checks fail");
});

test("the status bar counts", () => {
  assert.equal(status(undefined), "Legwork");
  assert.equal(status(list()), "Legwork");
  assert.equal(status(list(task({}), task({ state: "ready" }))), "Legwork: 1 running, 1 ready");
  assert.equal(status(list(task({ state: "needs-input" }))), "Legwork: 1 needs input");
});

test("menus follow the state", () => {
  assert.equal(context(task({ pending: 1 })), "task-active-pending");
  assert.equal(context(task({ state: "done" })), "task-over");
  assert.equal(context(task({ state: "needs-input", pending: 1 })), "task-active-asking-pending");
  assert.equal(context(task({ state: "ready", checks: "failing", pending: 1 })), "task-over-checked-pending");
});

test("only what ends now is told", () => {
  const ready = task({ state: "ready", pending: 2 });
  assert.deepEqual(ended(undefined, list(ready)), []);
  assert.deepEqual(ended(list(ready), list(ready)), []);
  assert.deepEqual(ended(list(task({})), list(ready)), [ready]);
  assert.deepEqual(ended(list(task({})), list(task({ state: "cancelled" }))), []);
  // It was delegated and ended between two lists.
  assert.deepEqual(ended(list(), list(ready)), [ready]);
});

test("a question is told once, and the next one again", () => {
  const asking = task({ state: "needs-input", question: "a?" });
  const other = task({ state: "needs-input", question: "b?" });
  assert.deepEqual(asked(undefined, list(asking)), []);
  assert.deepEqual(asked(list(task({})), list(asking)), [asking]);
  assert.deepEqual(asked(list(asking), list(asking)), []);
  assert.deepEqual(asked(list(asking), list(other)), [other]);
  assert.deepEqual(asked(list(asking), list(task({}))), []);
  assert.deepEqual(ended(list(asking), list(task({ state: "done" }))).length, 1);
});
