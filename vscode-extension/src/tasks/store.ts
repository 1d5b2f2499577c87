// The tasks as the server last told them, and what each is doing.

import * as vscode from "vscode";

import type { Task, TasksParams } from "../lspExt.ts";

export class Tasks implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<TasksParams | undefined>();
  private readonly phases = new Map<string, string>();
  public known: TasksParams | undefined;

  /** With the list as it was before. */
  public readonly onDidChange = this.changed.event;

  public receive(params: TasksParams | undefined): void {
    const before = this.known;
    this.known = params;
    this.changed.fire(before);
  }

  public phase(task: string, phase: string | undefined): void {
    if (phase === undefined) {
      this.phases.delete(task);
    } else {
      this.phases.set(task, phase);
    }
    this.changed.fire(this.known);
  }

  public phaseOf(task: Task): string | undefined {
    return this.phases.get(task.task);
  }

  public get(task: string): Task | undefined {
    return this.known?.tasks.find((other) => other.task === task);
  }

  public dispose(): void {
    this.changed.dispose();
  }
}
