// Somebody who never saw Legwork: from the walkthrough to a first accepted hunk, and to a task in words.

import assert from "node:assert/strict";

import { drive } from "./browser.ts";

await drive(async (code) => {
  await code.tasks();
  await code.page.getByRole("button", { name: "Get Started" }).click();
  const page = code.page.locator(".gettingStartedContainer");
  const step = (title: string) => page.locator(".getting-started-step", { hasText: title });
  await step("Look at what tasks run on").getByText("Say What Tasks Run On").first().click();
  await code.toast("Legwork").waitFor();
  await step("Look at what tasks run on").locator(".codicon-getting-started-step-checked, .complete").first().waitFor();

  await step("Delegate a task on a sample").click();
  await code.picture("walkthrough");
  await step("Delegate a task on a sample").getByText("Try It on a Sample").first().click();
  await code.page.locator(".tab.active", { hasText: "sample.md" }).waitFor();
  await code.choose("2 to review", "Review");
  await code.opened("+A color has a name.");
  await code.press("Alt+y");
  await code.shows("the accepted line", (lines) => lines.includes("A color has a name."));
  await code.opened("+Two colors");

  await code.command("Legwork: Get Started");
  await step("Accept your first hunk").locator(".codicon-getting-started-step-checked, .complete").first().waitFor();

  // Words, with what is selected.
  await code.open("a.txt");
  await code.page.locator(".editor-instance .view-line", { hasText: "two" }).click();
  await code.press("Home", "Shift+End");
  await code.press("Control+Alt+l", "d");
  await code.box("What should be done?");
  await code.type("run printf '%s\\n' \"$LEGWORK_LINES\" >> a.txt");
  await code.press("Enter");
  await code.choose("1 to review", "Review");
  await code.opened("+2-2");

  // The status bar counts what waits, and leads to it.
  assert.match((await code.status().textContent()) ?? "", /2 ready/u);
  await code.command("Legwork: Show What the Task Saw");
  await code.shows("what the task saw", (lines) => lines.join("\n").includes("The task saw 1 file") && lines.includes("  a.txt (14 bytes)"));
  await code.tasks();
  await code.row("Legwork").or(code.row("run printf")).first().click({ button: "right" });
  await code.page.locator(".monaco-menu", { hasText: "Reject the Whole Task" }).waitFor();
  await code.picture("menu");
  await code.page.locator(".monaco-menu .action-item", { hasText: "Reject the Whole Task" }).first().click();
  await code.eventually(() => "one task is ready", async () => /1 ready/u.test((await code.status().textContent()) ?? ""));
});
