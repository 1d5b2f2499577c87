// Says something to the agent of a task in a box: an answer to its question, or what it should do further.

import * as vscode from "vscode";

import type { Task } from "../lspExt.ts";
import type { Server } from "../server.ts";
import { question, title } from "../tasks/words.ts";
import { visible } from "../text.ts";

/** Asks for the words until they are stored or the user gives up: what was typed stays in the box. */
export async function answer(server: Server, task: Task): Promise<void> {
  const asked = question(task);
  let typed: string | undefined = "";
  let refused: { text: string; why: string } | undefined;
  for (;;) {
    const why: typeof refused = refused;
    typed = await vscode.window.showInputBox({
      title: title(task),
      prompt: asked === "" ? vscode.l10n.t("What should be said to the agent?") : asked,
      value: typed,
      ignoreFocusOut: true,
      validateInput: (text) =>
        why?.text === text ? { message: why.why, severity: vscode.InputBoxValidationSeverity.Warning } : undefined,
    });
    if (typed === undefined || typed.trim() === "") {
      return;
    }
    try {
      await server.command("say", { task: task.task, text: typed.trim() });
      return;
    } catch (error) {
      refused = { text: typed, why: visible(error instanceof Error ? error.message : String(error)) };
    }
  }
}
