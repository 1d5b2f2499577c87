// `legwork:` addresses: what a task wrote and no file has, read-only.

import * as vscode from "vscode";

import type { TextResult } from "./lspExt.ts";
import type { Server } from "./server.ts";

export class Content implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  public readonly onDidChange = this.changed.event;

  public constructor(private readonly server: Server) {}

  public async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const { text } = await this.server.request<TextResult>("legwork/content", { uri: uri.toString() });
    return text;
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
