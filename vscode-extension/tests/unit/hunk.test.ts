// Where hunks are, which one is meant, and how they read.

import assert from "node:assert/strict";
import { test } from "node:test";

import { address, after, body, diff, heir, label, meant, onlyLine, span } from "../../src/hunk.ts";
import type { Hunk } from "../../src/lspExt.ts";
import { unfenced } from "../../src/text.ts";

function hunk(part: Partial<Hunk>): Hunk {
  return {
    hunk: "t:1:a",
    task: "t",
    title: "fix it",
    number: 1,
    of: 2,
    state: "pending",
    start: 2,
    end: 3,
    removed: ["old"],
    added: ["new"],
    whole: null,
    summary: null,
    sensitive: null,
    running: false,
    ...part,
  };
}

test("a hunk covers what it replaces, and an insertion the line above", () => {
  assert.deepEqual(span(hunk({ start: 2, end: 5 }), 9), { first: 2, last: 4 });
  assert.deepEqual(span(hunk({ start: 2, end: 2 }), 9), { first: 1, last: 1 });
  assert.deepEqual(span(hunk({ start: 0, end: 0 }), 9), { first: 0, last: 0 });
  assert.deepEqual(span(hunk({ start: 9, end: 9 }), 9), { first: 8, last: 8 });
  assert.deepEqual(span(hunk({ start: 50, end: 60 }), 1), { first: 0, last: 0 });
});

test("the hunk at the cursor is meant before the one that was gone to", () => {
  const one = hunk({ hunk: "1", start: 2, end: 3 });
  const two = hunk({ hunk: "2", start: 6, end: 7 });
  assert.equal(meant([one, two], 6, 9, "1"), two);
  assert.equal(meant([one, two], 4, 9, "1"), one);
  assert.equal(meant([one, two], 4, 9, undefined), undefined);
  assert.equal(meant([one, two], 4, 9, "of another file"), undefined);
});

test("after a decision comes the hunk below, and behind the last the first", () => {
  const one = hunk({ hunk: "1", start: 2 });
  const two = hunk({ hunk: "2", start: 6 });
  assert.equal(after([one, two], one), two);
  assert.equal(after([one, two], two), one);
  assert.equal(after([one], one), undefined);
});

test("what a task wrote stays in its block of code", () => {
  const text = body(hunk({ added: ["```", "[run](command:workbench.action.quit)", "````x"], sensitive: "runs on build" }));
  assert.ok(text.includes("`````diff\n-old\n+```\n+[run](command:workbench.action.quit)\n+````x\n`````"), text);
  assert.ok(text.startsWith("```text\nsensitive: runs on build\n```"), text);
});

test("what cannot be seen is marked", () => {
  assert.deepEqual(diff(hunk({ removed: [], added: ["a\u202eb\u001b[31m\tc\u200b"] })), [
    "+a⟨U+202E⟩b⟨U+001B⟩[31m\tc⟨U+200B⟩",
  ]);
  assert.equal(label(hunk({ title: "x\u2066y" })), "1/2 · x⟨U+2066⟩y");
});

test("a long hunk is cut and says so", () => {
  const lines = diff(hunk({ removed: [], added: Array.from({ length: 1000 }, () => "x") }));
  assert.equal(lines.length, 301);
  assert.equal(lines.at(-1), "  … 700 more lines");
});

test("one line for one is shown beside it, a conflict is not", () => {
  assert.equal(onlyLine(hunk({})), "new");
  assert.equal(onlyLine(hunk({ added: ["a", "b"] })), undefined);
  assert.equal(onlyLine(hunk({ state: "conflicted" })), undefined);
});

test("addresses are taken apart", () => {
  assert.deepEqual(address("/t/proposed/a/b c"), { task: "t", part: "proposed", path: "a/b c" });
  assert.deepEqual(address("/t/log"), { task: "t", part: "log", path: "" });
  assert.equal(address("/t"), undefined);
});

test("what an agent made of a hunk stands where it stood", () => {
  const gone = hunk({ start: 2, end: 3 });
  const there = hunk({ hunk: "t:2:a", start: 2, end: 4 });
  assert.equal(heir([hunk({ start: 7, end: 8 }), there], gone), there);
  assert.equal(heir([hunk({ task: "u" })], gone), undefined);
  assert.equal(heir([hunk({ start: 7, end: 8 })], gone), undefined);
});

test("a card is its lines, and each can be seen", () => {
  assert.equal(unfenced("````text\nchecks pass\n```\n| \u202e[x](command:y)\n````"), "checks pass\n```\n| ⟨U+202E⟩[x](command:y)");
  assert.equal(unfenced("no block"), "no block");
});
