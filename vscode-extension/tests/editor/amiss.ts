// The program is missing, is another version, does not live, and is there at last: each is told, with a button.

import { chmod, copyFile, rm, symlink, writeFile } from "node:fs/promises";

import { drive } from "./browser.ts";

await drive<{ program: string }>(async (code, { more, server }) => {
  const write = async (text: string): Promise<void> => {
    const draft = `${more.program}.new`;
    await writeFile(draft, text);
    await chmod(draft, 0o755);
    await copyFile(draft, more.program);
    await chmod(more.program, 0o755);
    await rm(draft);
  };
  await code.tasks();
  await code.page.getByText("was not found or does not fit").waitFor();
  await code.toast("is no program").waitFor();
  await code.picture("missing");

  await write("#!/bin/sh\necho legwork 9.8.7\n");
  await code.choose("is no program", "Try Again");
  await code.toast("is version 9.8.7, and this extension is made for version").waitFor();
  await code.picture("other-version");

  // It says what it should and ends at once; after five times it is left alone.
  await write('#!/bin/sh\ntest "$1" = --version && echo legwork 0.1.0\n');
  await code.choose("is version 9.8.7", "Try Again");
  await code.toast("ended 5 times and is not started again").waitFor();
  await code.picture("crashed");

  await rm(more.program);
  await symlink(server, more.program);
  await code.choose("ended 5 times", "Start It Again");
  await code.page.getByText("Delegate a Task", { exact: true }).first().waitFor();
  await code.command("Legwork: Delegate a Command…");
  await code.box("A line for the shell");
  await code.type("echo 1 > a.txt");
  await code.press("Enter");
  await code.toast("1 to review").waitFor();
});
