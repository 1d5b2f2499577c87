// A small text to try it on, in a folder of its own that is no folder of the user's.

import * as vscode from "vscode";

import type { Server } from "../server.ts";

const TEXT = `# Colours

A colour has a name.

Names are short.

Two colours can be mixed.
`;

const COMMAND = "sed -i -e 's/^A colour/A color/' -e 's/^Two colours/Two colors/' sample.md";

export async function sample(server: Server, storage: vscode.Uri): Promise<void> {
  const folder = vscode.Uri.joinPath(storage, "sample");
  const file = vscode.Uri.joinPath(folder, "sample.md");
  await vscode.workspace.fs.createDirectory(folder);
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(TEXT));
  const connection = await server.ready();
  const added = [{ uri: folder.toString(), name: "Legwork sample" }];
  await connection.sendNotification("workspace/didChangeWorkspaceFolders", { event: { added, removed: [] } });
  await vscode.window.showTextDocument(file);
  await server.command("delegate", { uri: file.toString(), command: ["sh", "-c", COMMAND] });
}
