// Where a task cannot start, or hardly: a folder that is not trusted, a text that is no file, a folder that is gone.

import { rm } from "node:fs/promises";

import { drive } from "./browser.ts";

await drive(async (code, { folder }) => {
  // It was started elsewhere; to look at it and to accept needs no trust.
  await code.open("a.txt");
  await code.press("Control+Alt+l", "r");
  await code.opened("+1");
  await code.press("Alt+y");
  await code.shows("the accepted line", (lines) => lines[0] === "1");
  await code.press("Control+s");
  await code.holds("a.txt", "1\n");

  await code.press("Control+Alt+l", "d");
  const untrusted = "starts no task in a folder that is not trusted";
  await code.toast(untrusted).waitFor();
  await code.picture("untrusted");
  await code.choose(untrusted, "Manage Workspace Trust");
  await code.page.getByRole("button", { name: "Trust", exact: true }).click();
  await code.page.locator(".statusbar-item", { hasText: "Restricted Mode" }).waitFor({ state: "detached" });

  await code.command("File: New Untitled Text File");
  await code.page.locator(".tab.active", { hasText: "Untitled" }).waitFor();
  await code.type("not saved anywhere");
  await code.press("Control+Alt+l", "d");
  await code.box("What should be done?");
  await code.type("run echo 2 > a.txt");
  await code.press("Enter");
  await code.toast("this buffer has no file yet, so a task cannot see it: save it first").waitFor();

  await rm(folder, { recursive: true });
  await code.command("Legwork: Delegate a Command…");
  await code.box("A line for the shell");
  await code.type("true");
  await code.press("Enter");
  await code.toast(/Legwork: .*(no folder|not there|does not exist|No such file)/u).waitFor();
});
