// The view of tasks: each with its files and their hunks, which are asked for when a task is opened.

import * as vscode from "vscode";

import { title as hunkTitle } from "../hunk.ts";
import type { Stop, Task, WalkResult } from "../lspExt.ts";
import type { Server } from "../server.ts";
import type { Tasks } from "./store.ts";
import { context, isActive, line, title } from "./words.ts";

export type Node =
  | { readonly kind: "task"; readonly task: string }
  | { readonly kind: "file"; readonly task: string; readonly uri: string; readonly stops: readonly Stop[] }
  | { readonly kind: "hunk"; readonly stop: Stop };

const ICONS: Record<string, [string, string]> = {
  queued: ["clock", "charts.blue"],
  running: ["sync~spin", "charts.blue"],
  "needs-input": ["question", "charts.orange"],
  ready: ["git-pull-request", "charts.green"],
  failed: ["error", "charts.red"],
  cancelled: ["circle-slash", "disabledForeground"],
  done: ["pass", "disabledForeground"],
};

export class Tree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  public readonly onDidChangeTreeData = this.changed.event;
  private readonly listener: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;

  public constructor(
    private readonly tasks: Tasks,
    private readonly server: Server,
  ) {
    this.listener = tasks.onDidChange(() => {
      this.changed.fire(undefined);
      // The time of what runs goes on.
      clearInterval(this.timer);
      if (tasks.known?.tasks.some(isActive) === true) {
        this.timer = setInterval(() => {
          this.changed.fire(undefined);
        }, 5000);
      }
    });
  }

  public async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) {
      return (this.tasks.known?.tasks ?? []).map(({ task }) => ({ kind: "task", task }));
    }
    if (node.kind === "hunk") {
      return [];
    }
    if (node.kind === "file") {
      return node.stops.map((stop) => ({ kind: "hunk", stop }));
    }
    const { items } = await this.server.request<WalkResult>("legwork/walk", { task: node.task });
    const files = new Map<string, Stop[]>();
    for (const stop of items) {
      files.set(stop.uri, [...(files.get(stop.uri) ?? []), stop]);
    }
    return [...files].map(([uri, stops]) => ({ kind: "file", task: node.task, uri, stops }));
  }

  public getTreeItem(node: Node): vscode.TreeItem {
    if (node.kind === "hunk") {
      const { stop } = node;
      const item = new vscode.TreeItem(vscode.l10n.t("Line {0}", stop.line + 1));
      item.id = stop.hunk;
      item.description = [stop.state === "conflicted" ? stop.state : "", hunkTitle(stop.why)].filter(Boolean).join(" · ");
      item.contextValue = "hunk";
      item.command = { command: "legwork.openHunk", title: "", arguments: [{ hunk: stop.hunk, stop }] };
      return item;
    }
    if (node.kind === "file") {
      const uri = vscode.Uri.parse(node.uri);
      const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Collapsed);
      item.id = `${node.task} ${node.uri}`;
      item.iconPath = vscode.ThemeIcon.File;
      item.description = vscode.l10n.t("{0} waiting", node.stops.length);
      item.contextValue = "file";
      return item;
    }
    const task = this.tasks.get(node.task);
    return task === undefined ? new vscode.TreeItem(node.task) : this.taskItem(task);
  }

  public dispose(): void {
    clearInterval(this.timer);
    this.listener.dispose();
    this.changed.dispose();
  }

  private taskItem(task: Task): vscode.TreeItem {
    const words = line(task, this.tasks.phaseOf(task), Date.now());
    const { None, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(title(task), task.pending > 0 ? Collapsed : None);
    const [icon, color] = ICONS[task.state] ?? ["circle-outline", "foreground"];
    item.id = task.task;
    item.description = words;
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
    item.contextValue = context(task);
    item.tooltip = `${title(task)}\n${words}`;
    item.accessibilityInformation = { label: `${title(task)}, ${words}` };
    return item;
  }
}
