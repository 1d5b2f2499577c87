// Marks on the lines that would be replaced, and the proposed line where one is replaced by one.

import * as vscode from "vscode";

import { onlyLine, span } from "../hunk.ts";
import type { Hunks } from "./hunks.ts";

export class Decorations implements vscode.Disposable {
  private readonly removed = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("diffEditor.removedLineBackground"),
    overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.modifiedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  private readonly proposed = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor("editorGhostText.foreground"), margin: "0 0 0 2em" },
  });
  private readonly listeners: vscode.Disposable[];

  public constructor(private readonly hunks: Hunks) {
    this.listeners = [
      hunks.onDidChange((key) => {
        this.draw((editor) => editor.document.uri.toString() === key);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => {
        this.draw(() => true);
      }),
    ];
  }

  public dispose(): void {
    for (const item of [...this.listeners, this.removed, this.proposed]) {
      item.dispose();
    }
  }

  private draw(wanted: (editor: vscode.TextEditor) => boolean): void {
    for (const editor of vscode.window.visibleTextEditors.filter(wanted)) {
      const { document } = editor;
      const hunks = this.hunks.of(document.uri).filter((hunk) => hunk.end > hunk.start && hunk.whole === null);
      const ranges = hunks.map((hunk) => {
        const { first, last } = span(hunk, document.lineCount);
        return new vscode.Range(first, 0, last, 0);
      });
      editor.setDecorations(this.removed, ranges);
      const options = hunks.flatMap((hunk): vscode.DecorationOptions[] => {
        const text = onlyLine(hunk);
        if (text === undefined) {
          return [];
        }
        const { range } = document.lineAt(span(hunk, document.lineCount).first);
        return [{ range, renderOptions: { after: { contentText: `→ ${text}` } } }];
      });
      editor.setDecorations(this.proposed, options);
    }
  }
}
