// Handing over a task: in words, with what is selected, or as a command.

import * as vscode from "vscode";

import type { Server } from "../server.ts";

interface Place {
  readonly uri?: string;
  readonly range?: { start: { line: number; character: number }; end: { line: number; character: number } };
  readonly text?: string;
}

/** A folder that is not trusted starts nothing. */
async function trusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) {
    return true;
  }
  const manage = vscode.l10n.t("Manage Workspace Trust");
  const text = vscode.l10n.t("Legwork starts no task in a folder that is not trusted: it would run what the folder says.");
  if ((await vscode.window.showWarningMessage(text, manage)) === manage) {
    await vscode.commands.executeCommand("workbench.trust.manage");
  }
  return false;
}

function plain(range: vscode.Range): NonNullable<Place["range"]> {
  const { start, end } = range;
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}

const SEVERITIES = [1, 2, 3, 4];

/** Where the user stands, and what other servers say of it. A text without a file is named, so that the user is told. */
function here(): object {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || !["file", "untitled"].includes(editor.document.uri.scheme)) {
    return {};
  }
  const { document, selection } = editor;
  const diagnostics = vscode.languages
    .getDiagnostics(document.uri)
    .filter((item) => item.range.intersection(selection) !== undefined)
    .map((item) => ({
      range: plain(item.range),
      severity: SEVERITIES[item.severity] ?? 3,
      source: item.source,
      message: item.message,
    }));
  return {
    uri: document.uri.toString(),
    range: plain(selection),
    ...(selection.isEmpty ? {} : { selection: document.getText(selection) }),
    diagnostics,
  };
}

/** Asks for a sentence, unless it is given, and hands it over. */
export async function delegate(server: Server, given?: Place): Promise<void> {
  if (!(await trusted())) {
    return;
  }
  // The place is taken now: the cursor may go on while the user types.
  const place = given?.uri === undefined ? here() : given;
  const text =
    given?.text ??
    (await vscode.window.showInputBox({
      title: vscode.l10n.t("Delegate to Legwork"),
      prompt: vscode.l10n.t("What should be done? What is selected and not saved yet comes along."),
      ignoreFocusOut: true,
    }));
  if (text !== undefined && text.trim() !== "") {
    await server.command("delegate", { ...place, text: text.trim() });
  }
}

/** Asks for a line for the shell, and hands it over. */
export async function delegateCommand(server: Server): Promise<void> {
  if (!(await trusted())) {
    return;
  }
  // It says which folder is meant.
  const uri = vscode.window.activeTextEditor?.document.uri;
  const line = await vscode.window.showInputBox({
    title: vscode.l10n.t("Delegate a Command"),
    prompt: vscode.l10n.t("A line for the shell, which runs on a copy of the folder in a virtual machine."),
    ignoreFocusOut: true,
  });
  if (line !== undefined && line.trim() !== "") {
    const place = uri?.scheme === "file" ? { uri: uri.toString() } : {};
    await server.command("delegate", { ...place, command: ["sh", "-c", line] });
  }
}
