// `legwork:` addresses: what a task wrote and no file has, read-only.

import * as vscode from "vscode";

import { address } from "./hunk.ts";
import type { EvidenceResult, TextResult } from "./lspExt.ts";
import type { Server } from "./server.ts";
import { unfenced } from "./text.ts";

export class Content implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  public readonly onDidChange = this.changed.event;

  public constructor(private readonly server: Server) {}

  public async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const named = address(uri.path);
    if (named?.part === "evidence" && named.path === "") {
      return this.evidence(named.task);
    }
    const { text } = await this.server.request<TextResult>("legwork/content", { uri: uri.toString() });
    return text;
  }

  /** What the checks of a task say. */
  private async evidence(task: string): Promise<string> {
    const { text } = await this.server.request<EvidenceResult>("legwork/evidence", { task });
    return text === null ? vscode.l10n.t("This task has no checks.") : unfenced(text);
  }

  /** Reads again what is open. */
  public refresh(): void {
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme === "legwork") {
        this.changed.fire(uri);
      }
    }
  }
}
