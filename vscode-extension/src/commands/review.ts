// From hunk to hunk, and what is decided on them. What is decided on is always what the user sees.

import * as vscode from "vscode";

import { after } from "../hunk.ts";
import type { Hunk, Stop, WalkResult } from "../lspExt.ts";
import type { Hunks } from "../review/hunks.ts";
import type { Threads } from "../review/threads.ts";
import type { Server } from "../server.ts";
import type { Node } from "../tasks/tree.ts";

/** What an icon, a lens, an action or a row of the view passes on. */
export type About = { hunk?: string; task?: string; uri?: string; stop?: Stop } | Node | vscode.CommentThread | vscode.CommentReply | undefined;

export class Review {
  private last: Promise<unknown> = Promise.resolve();

  public constructor(
    private readonly server: Server,
    private readonly hunks: Hunks,
    private readonly threads: Threads,
  ) {}

  /** One after the other: who presses two keys in a row means the hunk that the first one leads to. */
  public async inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    await turn;
  }

  /** Goes to the first hunk, of a task if one is named. */
  public async first(about: About): Promise<void> {
    const task = taskOf(about);
    const { items } = await this.server.request<WalkResult>("legwork/walk", task === undefined ? {} : { task });
    if (items[0] === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("Nothing waits for review."));
      return;
    }
    await this.go(items[0]);
  }

  public async step(way: "next" | "prev"): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const from =
      editor === undefined
        ? undefined
        : { uri: editor.document.uri.toString(), line: editor.selection.active.line };
    // The server shows it as well; there is only one place to go to.
    const stop: Stop | null = await this.server.command<Stop>(way, from);
    await (stop === null ? undefined : this.go(stop));
  }

  /** Opens the thread of a hunk, and its file if the place is known. */
  public async openHunk(about: About): Promise<void> {
    if (about !== undefined && "stop" in about) {
      await this.go(about.stop);
    } else {
      this.threads.open(this.named(about));
    }
  }

  public async decide(verdict: "accept" | "reject", about: About): Promise<void> {
    const given = this.named(about);
    const editor = vscode.window.activeTextEditor;
    const here = editor === undefined ? [] : this.hunks.of(editor.document.uri);
    const hunk = given === undefined ? this.hunks.at(editor)?.hunk : given;
    if (hunk === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("No hunk is here; Alt+] goes to the next one."));
      return;
    }
    const decided: Hunk | undefined = here.find((other) => other.hunk === hunk);
    await this.server.command(verdict, { hunk });
    if (verdict === "accept") {
      await vscode.commands.executeCommand("setContext", "legwork.accepted", true);
    }
    const following = decided === undefined ? undefined : after(here, decided);
    this.threads.open(following?.hunk);
  }

  /** Says something about a hunk to the agent whose hunk it is. */
  public async say(about: About): Promise<void> {
    if (about === undefined || !("thread" in about)) {
      return;
    }
    const hunk = this.threads.named(about.thread);
    const text = about.text.trim();
    if (hunk !== undefined && text !== "") {
      await this.server.command("say", { hunk, text });
      this.threads.reply(about.thread, text);
    }
  }

  public async decideFile(verdict: "acceptFile" | "rejectFile", about: About): Promise<void> {
    if (about !== undefined && "kind" in about && about.kind === "file") {
      await this.server.command(verdict, { task: about.task, uri: about.uri });
      return;
    }
    const uri = vscode.window.activeTextEditor?.document.uri;
    const tasks = new Set(uri === undefined ? [] : this.hunks.of(uri).map((hunk) => hunk.task));
    for (const task of tasks) {
      await this.server.command(verdict, { task, uri: uri?.toString() });
    }
  }

  /** All changes of a task, file by file. */
  public async changes(task: string, workspace: string): Promise<void> {
    const { items } = await this.server.request<WalkResult>("legwork/walk", { task });
    const uris = [...new Set(items.map((item) => item.uri))].map((uri) => vscode.Uri.parse(uri));
    const root = vscode.Uri.file(workspace).path;
    const rows = uris.map((uri) => {
      const below = uri.scheme === "legwork" ? uri.path.split("/").slice(3).join("/") : uri.path.slice(root.length + 1);
      const side = (part: string): vscode.Uri => vscode.Uri.from({ scheme: "legwork", path: `/${task}/${part}/${below}` });
      return [uri, side("base"), side("proposed")];
    });
    await vscode.commands.executeCommand("vscode.changes", vscode.l10n.t("Legwork: all changes that wait"), rows);
  }

  private async go(stop: Stop): Promise<void> {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(stop.uri));
    const line = Math.min(stop.line, document.lineCount - 1);
    this.hunks.wanted = stop.hunk;
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(line, 0, line, 0) });
    await this.hunks.look(document);
    this.threads.open(stop.hunk);
  }

  private named(about: About): string | undefined {
    if (about === undefined) {
      return undefined;
    }
    if ("comments" in about) {
      return this.threads.named(about);
    }
    if ("thread" in about) {
      return this.threads.named(about.thread);
    }
    if ("kind" in about) {
      return about.kind === "hunk" ? about.stop.hunk : undefined;
    }
    return about.hunk;
  }
}

export function taskOf(about: About): string | undefined {
  return about !== undefined && "task" in about ? about.task : undefined;
}
