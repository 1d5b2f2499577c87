// The extension: makes its parts and joins them. What each does is in its own file.

import * as vscode from "vscode";

import { answer } from "./commands/answer.ts";
import { delegate, delegateCommand } from "./commands/delegate.ts";
import { type About, Review, taskOf } from "./commands/review.ts";
import { sample } from "./commands/sample.ts";
import { Content } from "./content.ts";
import { Lenses } from "./review/codeLens.ts";
import { Decorations } from "./review/decorations.ts";
import { Hunks } from "./review/hunks.ts";
import { Threads } from "./review/threads.ts";
import { Server } from "./server.ts";
import { Tasks } from "./tasks/store.ts";
import { Tree } from "./tasks/tree.ts";
import { isActive, status } from "./tasks/words.ts";
import { message, watch } from "./tell.ts";

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const output = vscode.window.createOutputChannel("Legwork", { log: true });
  const tasks = new Tasks();
  const server: Server = new Server(context, output, {
    hunks: (params) => {
      hunks.receive(params);
    },
    tasks: (params) => {
      tasks.receive(params);
    },
    phase: (task, phase) => {
      tasks.phase(task, phase);
    },
    message,
  });
  const hunks = new Hunks(server);
  running = server;
  const threads = new Threads(hunks);
  const content = new Content(server);
  const review = new Review(server, hunks, threads);
  const tree = new Tree(tasks, server);
  const bar = vscode.window.createStatusBarItem("legwork", vscode.StatusBarAlignment.Left, 10);
  bar.name = "Legwork";

  const pending = (): void => {
    const editor = vscode.window.activeTextEditor;
    const here = editor !== undefined && hunks.of(editor.document.uri).length > 0;
    const anywhere = here || !hunks.isEmpty() || (tasks.known?.ready ?? 0) > 0;
    void vscode.commands.executeCommand("setContext", "legwork.pendingHere", here);
    void vscode.commands.executeCommand("setContext", "legwork.pending", anywhere);
  };
  const draw = (): void => {
    const words = status(tasks.known);
    bar.text = `$(git-pull-request) ${words}`;
    bar.accessibilityInformation = { label: words, role: "button" };
    const ready = (tasks.known?.ready ?? 0) > 0;
    bar.command = ready ? "legwork.review" : "legwork.tasks";
    bar.tooltip = ready ? vscode.l10n.t("Review what waits") : vscode.l10n.t("Show the tasks");
    pending();
  };
  draw();
  bar.show();

  const files = [{ scheme: "file" }, { scheme: "legwork" }];
  context.subscriptions.push(
    output, server, hunks, threads, tree, bar, tasks,
    new Decorations(hunks),
    watch(tasks),
    vscode.window.createTreeView("legwork.tasks", { treeDataProvider: tree, showCollapseAll: true }),
    vscode.workspace.registerTextDocumentContentProvider("legwork", content),
    vscode.languages.registerCodeLensProvider(files, new Lenses(hunks)),
    tasks.onDidChange(() => {
      draw();
      content.refresh();
      for (const { document } of vscode.window.visibleTextEditors) {
        void hunks.look(document).catch(() => undefined);
      }
    }),
    hunks.onDidChange(pending),
    vscode.window.onDidChangeActiveTextEditor(pending),
    server.onDidChange((up) => {
      if (!up) {
        hunks.forget();
        tasks.receive(undefined);
      }
    }),
  );
  register(context, { server, tasks, review });
  server.wake();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}

interface Parts {
  readonly server: Server;
  readonly tasks: Tasks;
  readonly review: Review;
}

function register(context: vscode.ExtensionContext, { server, tasks, review }: Parts): void {
  const likely = (about: About, fits: (state: string, pending: number) => boolean): string | undefined =>
    taskOf(about) ?? tasks.known?.tasks.find((task) => fits(task.state, task.pending))?.task;
  const on = (name: string, run: (about: About) => Promise<unknown>): void => {
    context.subscriptions.push(
      vscode.commands.registerCommand(`legwork.${name}`, async (about: About) => {
        try {
          await run(about);
        } catch (error) {
          const text = error instanceof Error ? error.message : String(error);
          message(1, text.startsWith("Legwork ") ? text : `Legwork: ${text.replace(/^legwork: /u, "")}`);
          if (name === "say") {
            // The editor empties the box of a reply whose command did not fail.
            throw error;
          }
        }
      }),
    );
  };
  const ofTask = (name: string, fits: (state: string, pending: number) => boolean): void => {
    on(name, async (about) => {
      const task = likely(about, fits);
      await server.command(name, task === undefined ? undefined : { task });
    });
  };
  const place = (about: unknown): { uri?: string; text?: string } | undefined =>
    about instanceof vscode.Uri || typeof about !== "object" || about === null ? undefined : about;

  on("delegate", (about) => delegate(server, place(about)));
  on("delegateCommand", () => delegateCommand(server));
  on("new", async (about) => {
    // A light bulb's “Delegate a task about …”: there is a box for the words here.
    const given = place(about);
    await (given?.uri === undefined ? server.command("new") : delegate(server, given));
  });
  on("tasks", async () => vscode.commands.executeCommand("legwork.tasks.focus"));
  on("review", (about) => review.inTurn(() => review.first(about)));
  on("next", () => review.inTurn(() => review.step("next")));
  on("prev", () => review.inTurn(() => review.step("prev")));
  on("openHunk", (about) => review.inTurn(() => review.openHunk(about)));
  on("accept", (about) => review.inTurn(() => review.decide("accept", about)));
  on("reject", (about) => review.inTurn(() => review.decide("reject", about)));
  on("say", (about) => review.say(about));
  on("acceptFile", (about) => review.inTurn(() => review.decideFile("acceptFile", about)));
  on("rejectFile", (about) => review.inTurn(() => review.decideFile("rejectFile", about)));
  ofTask("acceptTask", (_, pending) => pending > 0);
  ofTask("rejectTask", (_, pending) => pending > 0);
  ofTask("undo", () => false);
  ofTask("cancel", () => false);
  ofTask("retry", () => false);
  on("answer", async (about) => {
    const task = likely(about, (state) => state === "needs-input");
    const known = task === undefined ? undefined : tasks.get(task);
    if (known === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t("No task waits for an answer."));
    } else {
      await answer(server, known);
    }
  });
  const show = async (task: string | undefined, part: string): Promise<void> => {
    if (task !== undefined) {
      await vscode.window.showTextDocument(vscode.Uri.from({ scheme: "legwork", path: `/${task}/${part}` }));
    }
  };
  on("showLog", (about) => show(likely(about, () => true), "log"));
  on("showSeen", (about) => show(likely(about, () => true), "seen"));
  on("showEvidence", (about) =>
    show(taskOf(about) ?? tasks.known?.tasks.find((task) => task.checks !== null)?.task ?? likely(about, () => true), "evidence"),
  );
  on("showChanges", async (about) => {
    const task = likely(about, (_, pending) => pending > 0);
    const known = task === undefined ? undefined : tasks.get(task);
    if (known !== undefined) {
      await review.changes(known.task, known.workspace);
    }
  });
  on("doctor", () => server.command("doctor"));
  on("restart", () => server.restart());
  on("showOutput", () => {
    server.output.show();
    return Promise.resolve();
  });
  on("openSettings", async () => vscode.commands.executeCommand("workbench.action.openSettings", "legwork"));
  on("getStarted", async () =>
    vscode.commands.executeCommand("workbench.action.openWalkthrough", "legwork.legwork#start"),
  );
  on("sample", () => sample(server, context.globalStorageUri));

  // The log of what runs grows.
  const timer = setInterval(() => {
    const open = vscode.window.visibleTextEditors.some(({ document }) => document.uri.path.endsWith("/log"));
    if (open && tasks.known?.tasks.some(isActive) === true) {
      tasks.receive(tasks.known);
    }
  }, 1000);
  context.subscriptions.push({
    dispose: () => {
      clearInterval(timer);
    },
  });
}
