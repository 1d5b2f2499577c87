// The life of the language server: found, started when it is first needed, started again when it dies.

import { homedir } from "node:os";
import * as vscode from "vscode";

import { find, misfit } from "./bootstrap.ts";
import type { Connection, Hearing } from "./client.ts";

/** Deaths in a row after which it is started only when the user asks for it. */
const MOST_DEATHS = 5;
/** A server that lived so long was well. */
const WELL_MS = 30_000;
const FIRST_WAIT_MS = 500;

export class Server implements vscode.Disposable {
  private connection: Promise<Connection> | undefined;
  private deaths = 0;
  private timer: NodeJS.Timeout | undefined;
  private ending = false;
  private said: string | undefined;
  private readonly changed = new vscode.EventEmitter<boolean>();

  /** Whether it is up, whenever that changes. */
  public readonly onDidChange = this.changed.event;

  public constructor(
    private readonly context: vscode.ExtensionContext,
    public readonly output: vscode.LogOutputChannel,
    private readonly hearing: Omit<Hearing, "closed">,
  ) {}

  /** The server, started if need be. */
  public async ready(): Promise<Connection> {
    if (this.deaths >= MOST_DEATHS) {
      throw new Error(vscode.l10n.t("the language server keeps ending; see its log, and start it again"));
    }
    return (this.connection ??= this.start());
  }

  /** Starts it in the background; a problem is told once. */
  public wake(): void {
    this.ready().catch((error: unknown) => {
      this.output.error(String(error));
    });
  }

  public async request<Result>(method: string, params: object): Promise<Result> {
    const connection = await this.ready();
    return connection.sendRequest<Result>(method, params);
  }

  /** Runs one of the server's commands. */
  public async command<Result>(name: string, argument?: object): Promise<Result | null> {
    const params = { command: `legwork.${name}`, arguments: argument === undefined ? [] : [argument] };
    return this.request<Result | null>("workspace/executeCommand", params);
  }

  public async restart(): Promise<void> {
    clearTimeout(this.timer);
    const old = this.connection;
    this.connection = undefined;
    this.deaths = 0;
    this.said = undefined;
    await old?.then((connection) => connection.stop()).catch(() => undefined);
    this.changed.fire(false);
    await this.ready();
  }

  public dispose(): void {
    this.ending = true;
    clearTimeout(this.timer);
    this.changed.dispose();
  }

  public async stop(): Promise<void> {
    this.ending = true;
    await this.connection?.then((connection) => connection.stop()).catch(() => undefined);
  }

  private async start(): Promise<Connection> {
    const begun = Date.now();
    try {
      const program = await this.program();
      let over = false;
      const { connect } = await import("./client.js");
      const settings = vscode.workspace.getConfiguration("legwork");
      const connection = await connect(program, settings.get<string[]>("agent.command", []), this.output, {
        ...this.hearing,
        closed: () => {
          if (!over) {
            over = true;
            this.died(begun);
          }
        },
      });
      this.output.info(`${program} is up after ${Date.now() - begun} ms`);
      this.changed.fire(true);
      return connection;
    } catch (error) {
      this.connection = undefined;
      throw error;
    }
  }

  /** The program, if it is there and fits. */
  private async program(): Promise<string> {
    const found = await find({
      setting: vscode.workspace.getConfiguration("legwork").get<string>("server.path", "").trim(),
      bundled: vscode.Uri.joinPath(this.context.extensionUri, "server", "legwork").fsPath,
      path: process.env["PATH"] ?? "",
      home: homedir(),
    });
    const { version } = this.context.extension.packageJSON as { version: string };
    const why = found.kind === "missing" ? found.why : await misfit(found.program, version);
    await vscode.commands.executeCommand("setContext", "legwork.missing", why !== undefined);
    if (found.kind === "found" && why === undefined) {
      return found.program;
    }
    const text = vscode.l10n.t("Legwork cannot start: {0}. Install it, or name it in the settings.", why ?? "");
    if (this.said !== text) {
      this.said = text;
      void this.offer(text);
    }
    throw new Error(text);
  }

  private async offer(text: string): Promise<void> {
    const settings = vscode.l10n.t("Open Settings");
    const again = vscode.l10n.t("Try Again");
    const chosen = await vscode.window.showErrorMessage(text, settings, again);
    if (chosen === settings) {
      await vscode.commands.executeCommand("legwork.openSettings");
    } else if (chosen === again) {
      await vscode.commands.executeCommand("legwork.restart");
    }
  }

  private died(begun: number): void {
    this.connection = undefined;
    this.changed.fire(false);
    if (this.ending) {
      return;
    }
    this.deaths = Date.now() - begun > WELL_MS ? 1 : this.deaths + 1;
    this.output.warn(`the language server ended, ${this.deaths} times in a row`);
    if (this.deaths >= MOST_DEATHS) {
      void this.tellEnd();
      return;
    }
    this.timer = setTimeout(
      () => {
        this.wake();
      },
      FIRST_WAIT_MS * 2 ** (this.deaths - 1),
    );
  }

  private async tellEnd(): Promise<void> {
    const again = vscode.l10n.t("Start It Again");
    const log = vscode.l10n.t("Show Log");
    const text = vscode.l10n.t("Legwork: the language server ended {0} times and is not started again.", MOST_DEATHS);
    const chosen = await vscode.window.showErrorMessage(text, again, log);
    if (chosen === again) {
      await vscode.commands.executeCommand("legwork.restart");
    } else if (chosen === log) {
      this.output.show();
    }
  }
}
