// The language client of the editor's makers, for this server. Read only when a server is started, since it is large.

import type { LogOutputChannel } from "vscode";
import {
  CloseAction,
  ErrorAction,
  type DynamicFeature,
  type LanguageClientOptions,
  type StaticFeature,
} from "vscode-languageclient";
import { LanguageClient } from "vscode-languageclient/node";

import type { HunksParams, TasksParams } from "./lspExt.ts";

/** What the server says without being asked. */
export interface Hearing {
  hunks(params: HunksParams): void;
  tasks(params: TasksParams): void;
  message(type: number, text: string): void;
  phase(task: string, phase: string | undefined): void;
  closed(): void;
}

/** The extension registers the server's commands itself: they exist before a server does. */
class Client extends LanguageClient {
  // The base class hands over features of every kind.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  public override registerFeature(feature: StaticFeature | DynamicFeature<any>): void {
    if ("registrationType" in feature && feature.registrationType.method === "workspace/executeCommand") {
      return;
    }
    super.registerFeature(feature);
  }
}

export type Connection = Pick<LanguageClient, "sendRequest" | "sendNotification" | "stop">;

/** Starts the program and shakes hands with it. */
export async function connect(
  program: string,
  agent: readonly string[],
  output: LogOutputChannel,
  hearing: Hearing,
): Promise<Connection> {
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file" }],
    outputChannel: output,
    initializationOptions: {
      legwork: {
        ui: { hunks: "native", tasks: true, content: true },
        ...(agent.length > 0 ? { agent: { command: agent } } : {}),
      },
    },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        hearing.closed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
    middleware: {
      // The view shows it, and can cancel.
      handleWorkDoneProgress: (token, params) => {
        const task = String(token).replace(/^legwork\//u, "");
        hearing.phase(task, params.kind === "end" ? undefined : params.message);
      },
    },
  };
  const client = new Client("legwork", "Legwork", { command: program, args: ["lsp"] }, options);
  client.onNotification("legwork/hunks", (params: HunksParams) => {
    hearing.hunks(params);
  });
  client.onNotification("legwork/tasks", (params: TasksParams) => {
    hearing.tasks(params);
  });
  client.onNotification("window/showMessage", (params: { type: number; message: string }) => {
    hearing.message(params.type, params.message);
  });
  await client.start();
  return client;
}
