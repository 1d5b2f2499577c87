// The hunks that wait, by document, as the server last told them.

import * as vscode from "vscode";

import { address, meant, whole } from "../hunk.ts";
import type { Hunk, HunksParams, WalkResult } from "../lspExt.ts";
import type { Server } from "../server.ts";

export class Hunks implements vscode.Disposable {
  private readonly byUri = new Map<string, readonly Hunk[]>();
  private readonly changed = new vscode.EventEmitter<string>();

  /** The document whose hunks are others. */
  public readonly onDidChange = this.changed.event;

  /** The hunk that was last gone to. */
  public wanted: string | undefined;

  public constructor(private readonly server: Server) {}

  public receive(params: HunksParams): void {
    const key = vscode.Uri.parse(params.uri).toString();
    if (params.hunks.length === 0 && !this.byUri.delete(key)) {
      return;
    }
    if (params.hunks.length > 0) {
      this.byUri.set(key, params.hunks);
    }
    this.changed.fire(key);
  }

  public forget(): void {
    const keys = [...this.byUri.keys()];
    this.byUri.clear();
    for (const key of keys) {
      this.changed.fire(key);
    }
  }

  public of(uri: vscode.Uri): readonly Hunk[] {
    return this.byUri.get(uri.toString()) ?? [];
  }

  public isEmpty(): boolean {
    return this.byUri.size === 0;
  }

  /** The hunk that is meant in an editor. */
  public at(editor: vscode.TextEditor | undefined): Hunk | undefined {
    if (editor === undefined) {
      return undefined;
    }
    const { document, selection } = editor;
    return meant(this.of(document.uri), selection.active.line, document.lineCount, this.wanted);
  }

  /** Asks what waits in a read-only document of a task. */
  public async look(document: vscode.TextDocument): Promise<void> {
    const parts = document.uri.scheme === "legwork" ? address(document.uri.path) : undefined;
    if (parts === undefined || parts.path === "") {
      return;
    }
    const { items } = await this.server.request<WalkResult>("legwork/walk", { task: parts.task });
    const key = document.uri.toString();
    const here = items.filter((item) => vscode.Uri.parse(item.uri).toString() === key);
    const hunks = here.flatMap((_, index) => whole(here, index, parts.part) ?? []);
    this.receive({ uri: key, version: null, hunks });
  }

  public dispose(): void {
    this.changed.dispose();
  }
}
