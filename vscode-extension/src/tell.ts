// What the user is told: that a task asks something, is ready or has failed, and what the server answers.

import * as vscode from "vscode";

import type { Tasks } from "./tasks/store.ts";
import { asked, ended, question, title } from "./tasks/words.ts";
import { visible } from "./text.ts";

const ERROR = 1;
const WARNING = 2;

/** The server says it for clients that have no view of tasks. */
const SHOWN_ELSEWHERE = /^legwork: (needs input|ready|failed|cancelled): /u;
const PASSING = /^legwork: (queued|the agent hears it)/u;

export function message(type: number, text: string): void {
  if (SHOWN_ELSEWHERE.test(text)) {
    return;
  }
  const line = visible(text);
  if (PASSING.test(text)) {
    vscode.window.setStatusBarMessage(line, 5000);
  } else if (type === ERROR) {
    void vscode.window.showErrorMessage(line);
  } else if (type === WARNING) {
    void vscode.window.showWarningMessage(line);
  } else {
    void vscode.window.showInformationMessage(line);
  }
}

/** Tells of tasks that ask something, became ready or failed, if that is wanted. */
export function watch(tasks: Tasks): vscode.Disposable {
  return tasks.onDidChange((before) => {
    const wanted = vscode.workspace.getConfiguration("legwork").get<boolean>("notifications", true);
    if (!wanted || tasks.known === undefined) {
      return;
    }
    for (const task of asked(before, tasks.known)) {
      void answer(task.task, vscode.l10n.t("Legwork: needs input: {0}: {1}", title(task), question(task)));
    }
    for (const task of ended(before, tasks.known)) {
      if (task.state === "failed") {
        void failed(task.task, vscode.l10n.t("Legwork: failed: {0}: {1}", title(task), visible(task.outcome ?? "")));
      } else {
        void ready(task.task, vscode.l10n.t("Legwork: ready: {0}: {1} to review", title(task), task.pending));
      }
    }
  });
}

async function answer(task: string, text: string): Promise<void> {
  const button = vscode.l10n.t("Answer");
  if ((await vscode.window.showInformationMessage(text, button)) === button) {
    await vscode.commands.executeCommand("legwork.answer", { task });
  }
}

async function ready(task: string, text: string): Promise<void> {
  const review = vscode.l10n.t("Review");
  if ((await vscode.window.showInformationMessage(text, review)) === review) {
    await vscode.commands.executeCommand("legwork.review", { task });
  }
}

async function failed(task: string, text: string): Promise<void> {
  const log = vscode.l10n.t("Show Log");
  const retry = vscode.l10n.t("Run Again");
  const chosen = await vscode.window.showWarningMessage(text, log, retry);
  if (chosen === log) {
    await vscode.commands.executeCommand("legwork.showLog", { task });
  } else if (chosen === retry) {
    await vscode.commands.executeCommand("legwork.retry", { task });
  }
}
