// Accept and reject above a hunk: a second way to what its thread offers.

import * as vscode from "vscode";

import { label, span } from "../hunk.ts";
import type { Hunks } from "./hunks.ts";

export class Lenses implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  public readonly onDidChangeCodeLenses = this.changed.event;

  public constructor(private readonly hunks: Hunks) {
    hunks.onDidChange(() => {
      this.changed.fire();
    });
  }

  public provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const wanted = vscode.workspace.getConfiguration("legwork", document).get<boolean>("review.codeLens", true);
    return (wanted ? this.hunks.of(document.uri) : []).flatMap((hunk) => {
      const { first } = span(hunk, document.lineCount);
      const range = new vscode.Range(first, 0, first, 0);
      const lens = (title: string, command: string): vscode.CodeLens =>
        new vscode.CodeLens(range, { title, command, arguments: [{ hunk: hunk.hunk }] });
      const accept = hunk.state === "pending" ? [lens(vscode.l10n.t("Accept"), "legwork.accept")] : [];
      return [
        ...accept,
        lens(vscode.l10n.t("Reject"), "legwork.reject"),
        lens(`Legwork ${label(hunk)}`, "legwork.openHunk"),
      ];
    });
  }
}
