// A command runs in a virtual machine, and its four hunks are decided on in four ways.

import assert from "node:assert/strict";

import { drive } from "./browser.ts";

await drive<{ script: string }>(async (code, { more }) => {
  await code.open("a.txt");
  await code.press("Control+Alt+l", "t");
  await code.page.getByText("Delegate a Task", { exact: true }).first().waitFor();
  await code.picture("empty");

  await code.command("Legwork: Delegate a Command…");
  await code.box("A line for the shell");
  await code.type(more.script);
  await code.press("Enter");
  await code.row("running").waitFor();
  await code.picture("running");
  // A machine that is emulated takes its time.
  await code.toast("5 to review").waitFor({ timeout: 180_000 });
  await code.choose("5 to review", "Review");

  // The walk begins at the first hunk of the file.
  await code.opened("+1");
  await code.opened("-one");
  await code.picture("hunk");
  assert.notEqual(await code.colour("-one"), await code.colour("+1"), "the diff is coloured");

  await code.press("Alt+y");
  await code.shows("the accepted line", (lines) => lines[0] === "1");
  await code.holds("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve");

  // The next one is open by now; it is rejected.
  await code.opened("+4");
  await code.press("Alt+]");
  await code.opened("+4");
  await code.press("Alt+n");
  await code.opened("+7");
  await code.shows("what was there", (lines) => lines[3] === "four");

  // The third is accepted by its icon, and taken back as any edit is.
  await code.press("Alt+]");
  await code.opened("+7");
  await code.thread().locator(".action-label.codicon-check").click();
  await code.shows("the accepted line", (lines) => lines[6] === "7");
  await code.opened("+10");
  await code.page.locator(".editor-instance .view-line", { hasText: "twelve" }).click();
  await code.press("Control+z");
  await code.shows("what was there", (lines) => lines[6] === "seven" && lines[0] === "1");

  // The server has seen it as soon as the hunk waits again. It is accepted again, and taken back by the command.
  await code.waiting(2);
  await code.press("Control+Alt+l", "r");
  await code.opened("+7");
  await code.press("Alt+y");
  await code.shows("the accepted line", (lines) => lines[6] === "7");
  await code.command("Legwork: Take the Last Decision Back");
  await code.shows("what was there", (lines) => lines[6] === "seven" && lines[0] === "1");

  await code.waiting(2);

  await code.page.locator(".editor-instance .view-line", { hasText: "twelve" }).click();
  await code.press("Control+s");
  await code.holds("a.txt", "1\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve");
});
