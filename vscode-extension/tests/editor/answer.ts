// An agent asks. The user answers on a hunk, and the hunk becomes another; a command's hunk has nobody who hears.

import assert from "node:assert/strict";

import { type Code, drive } from "./browser.ts";

/** Types into the box below the open hunk. */
async function reply(code: Code, text: string): Promise<void> {
  const button = code.thread().locator(".review-thread-reply-button").filter({ visible: true });
  if ((await button.count()) > 0) {
    await button.click();
  }
  await code.thread().locator(".comment-form .view-lines").click();
  await code.type(text);
  await code.thread().locator(".comment-form .view-lines", { hasText: text }).waitFor();
  await code.thread().getByText("Say It to the Agent").click();
}

/** Leaves the box for a line of the file, where the keys are about hunks again. */
async function back(code: Code, line: string): Promise<void> {
  await code.page.locator(".editor-instance .view-line", { hasText: line }).first().click();
  await code.page.locator(".editor-actions .codicon-check-all").waitFor();
}

await drive(async (code) => {
  await code.open("b.txt");
  await code.waiting(1);
  await code.press("Control+Alt+l", "r");
  await code.opened("+B");
  await reply(code, "louder");
  await code.toast("is done by a command, which hears nothing").waitFor();
  await code.picture("unheard");
  await code.thread().locator(".comment-form .view-lines", { hasText: "louder" }).waitFor();
  assert.equal(await code.thread().locator(".comment-body", { hasText: "louder" }).count(), 0, "it was not said");
  await back(code, "b");
  await code.press("Alt+n");
  await code.thread().waitFor({ state: "detached" });

  await code.open("a.txt");
  await code.press("Control+Alt+l", "d");
  await code.box("What should be done?");
  await code.type("write numbers as digits");
  await code.press("Enter");
  await code.toast("needs input: write numbers as digits: Is a digit right?").waitFor();
  await code.picture("asked");
  await code.page.locator(".codelens-decoration", { hasText: "write numbers as digits" }).waitFor();
  await code.press("Control+Alt+l", "r");
  await code.opened("+1");
  await reply(code, "as a word, please");
  // The agent made another hunk of it, in the same open thread, with what was said below.
  await code.opened("+uno");
  await code.thread().locator(".comment-body", { hasText: "as a word, please" }).waitFor();
  await code.picture("said");

  const second = "needs input: write numbers as digits: Is that all?";
  await code.tasks();
  await code.row("needs input · Is that all?").waitFor();
  await code.choose(second, "Answer");
  await code.box("Is that all?");
  await code.type("yes, it is");
  await code.press("Enter");
  await code.row("checks pass").waitFor();

  await back(code, "two");
  await code.press("Alt+y");
  await code.shows("the accepted line", (lines) => lines[0] === "uno");
  await code.press("Control+s");
  await code.holds("a.txt", "uno\ntwo\n");

  await code.command("Legwork: Show Evidence");
  await code.shows("the card", (lines) => lines.some((line) => line.startsWith("check passes: sh check.sh")));
});
