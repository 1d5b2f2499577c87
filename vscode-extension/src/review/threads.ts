// Hunks as threads of comments at their place. One is open at a time; the others are marks at the edge.

import * as vscode from "vscode";

import { body, heir, label, span } from "../hunk.ts";
import { block, visible } from "../text.ts";
import type { Hunk } from "../lspExt.ts";
import type { Hunks } from "./hunks.ts";

/** So many hunks of a document have a thread; the walk reaches the others all the same. */
const MOST = 200;

/** So much of what was said about a hunk is shown, the newest. */
const MOST_SAID = 10;

interface Drawn {
  readonly thread: vscode.CommentThread;
  readonly uri: string;
  readonly hunk: Hunk;
  readonly shown: string;
}

export class Threads implements vscode.Disposable {
  private readonly controller = vscode.comments.createCommentController("legwork", "Legwork");
  private readonly drawn = new Map<string, Drawn>();
  private readonly names = new WeakMap<vscode.CommentThread, string>();
  /** What the user said about a hunk. It is kept while the hunk is away: an undo brings it back. */
  private readonly said = new Map<string, string[]>();
  private readonly listener: vscode.Disposable;

  public constructor(private readonly hunks: Hunks) {
    this.controller.options = {
      prompt: vscode.l10n.t("Say something about this hunk to the agent"),
      placeHolder: vscode.l10n.t("What should be otherwise?"),
    };
    this.listener = hunks.onDidChange((key) => {
      this.draw(vscode.Uri.parse(key));
    });
  }

  /** The hunk of a thread whose icon was chosen. */
  public named(thread: vscode.CommentThread): string | undefined {
    return this.names.get(thread);
  }

  /** Shows what the user said, below the hunk, which may be another by now. */
  public reply(thread: vscode.CommentThread, text: string): void {
    const hunk = this.names.get(thread);
    const uri = hunk === undefined ? undefined : this.drawn.get(hunk)?.uri;
    if (hunk !== undefined && uri !== undefined) {
      this.said.set(hunk, [...(this.said.get(hunk) ?? []), text].slice(-MOST_SAID));
      this.draw(vscode.Uri.parse(uri));
    }
  }

  /** Opens one, and closes the others. */
  public open(hunk: string | undefined): void {
    this.hunks.wanted = hunk;
    const uri = [...this.drawn].find(([name]) => name === hunk)?.[1].uri;
    if (uri === undefined) {
      for (const editor of vscode.window.visibleTextEditors) {
        this.draw(editor.document.uri);
      }
    }
    for (const [name, { thread }] of this.drawn) {
      const wanted =
        name === hunk
          ? vscode.CommentThreadCollapsibleState.Expanded
          : vscode.CommentThreadCollapsibleState.Collapsed;
      if (thread.collapsibleState !== wanted) {
        thread.collapsibleState = wanted;
      }
    }
  }

  public dispose(): void {
    this.listener.dispose();
    this.controller.dispose();
  }

  private draw(uri: vscode.Uri): void {
    const key = uri.toString();
    const all = this.hunks.of(uri);
    const some = all.slice(0, MOST);
    const wanted = all.find((hunk) => hunk.hunk === this.hunks.wanted);
    if (wanted !== undefined && !some.includes(wanted)) {
      some.push(wanted);
    }
    const names = new Set(some.map((hunk) => hunk.hunk));
    for (const [name, drawn] of this.drawn) {
      if (drawn.uri === key && !names.has(name)) {
        this.drawn.delete(name);
        this.leave(name, drawn, heir(some.filter((hunk) => !this.drawn.has(hunk.hunk)), drawn.hunk));
      }
    }
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === key);
    if (document !== undefined) {
      for (const hunk of some) {
        this.show(document, hunk);
      }
    }
  }

  /** A hunk is gone. The one that its agent made of it has its thread, and what the user types there. */
  private leave(name: string, drawn: Drawn, next: Hunk | undefined): void {
    if (next === undefined) {
      drawn.thread.dispose();
      return;
    }
    this.drawn.set(next.hunk, { ...drawn, hunk: next, shown: "" });
    this.names.set(drawn.thread, next.hunk);
    this.said.set(next.hunk, this.said.get(name) ?? []);
    if (this.hunks.wanted === name) {
      this.hunks.wanted = next.hunk;
    }
  }

  private show(document: vscode.TextDocument, hunk: Hunk): void {
    const { first, last } = span(hunk, document.lineCount);
    const range = new vscode.Range(first, 0, last, 0);
    const text = body(hunk);
    const said = this.said.get(hunk.hunk) ?? [];
    const shown = JSON.stringify([first, last, text, label(hunk), hunk.state, said]);
    const known = this.drawn.get(hunk.hunk);
    if (known?.shown === shown) {
      return;
    }
    const thread = known?.thread ?? this.controller.createCommentThread(document.uri, range, []);
    if (known === undefined) {
      thread.canReply = true;
      thread.collapsibleState =
        hunk.hunk === this.hunks.wanted
          ? vscode.CommentThreadCollapsibleState.Expanded
          : vscode.CommentThreadCollapsibleState.Collapsed;
      this.names.set(thread, hunk.hunk);
    }
    if (!thread.range.isEqual(range)) {
      thread.range = range;
    }
    thread.label = label(hunk);
    thread.contextValue = hunk.state === "conflicted" ? "hunk-conflicted" : "hunk";
    // Neither trusted nor HTML: what a task wrote is text.
    thread.comments = [
      {
        author: { name: "Legwork" },
        body: new vscode.MarkdownString(text),
        mode: vscode.CommentMode.Preview,
      },
      ...said.map((words) => ({
        author: { name: vscode.l10n.t("You") },
        body: new vscode.MarkdownString(block("text", words.split("\n").map(visible))),
        mode: vscode.CommentMode.Preview,
      })),
    ];
    this.drawn.set(hunk.hunk, { thread, uri: document.uri.toString(), hunk, shown });
  }
}
