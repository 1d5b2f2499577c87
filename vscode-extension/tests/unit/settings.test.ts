// Settings are the server's options, beside a few of the extension's own.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { command: string; title: string }[];
    readonly configuration: { readonly properties: Record<string, { markdownDescription: string }> };
  };
}

/** What the extension does with itself, and tells no server. */
const OWN = ["legwork.server.path", "legwork.review.codeLens", "legwork.notifications"];

const manifest = JSON.parse(await readFile("package.json", "utf8")) as Manifest;
const { commands, configuration } = manifest.contributes;

/** The first column of the table of options. What a client draws itself is no matter of taste. */
async function options(): Promise<string[]> {
  const page = await readFile("../server/docs/lsp-extensions.md", "utf8");
  const [, section] = page.split(/^## `initializationOptions`$/mu);
  const table = (section ?? "").split(/^## /mu)[0] ?? "";
  const names = [...table.matchAll(/^\| `([a-z.]+)` \|/gmu)].map((match) => match[1] ?? "");
  assert.ok(names.includes("ui.hunks"), `the table is read: ${names.join()}`);
  return names.filter((name) => !name.startsWith("ui."));
}

test("each option of the server is a setting, and each other setting is the extension's own", async () => {
  const wanted = [...(await options()).map((name) => `legwork.${name}`), ...OWN];
  assert.deepEqual(Object.keys(configuration.properties).sort(), wanted.sort());
});

test("what the table names is what the server reads", async () => {
  const profile = await readFile("../server/lsp/src/profile.rs", "utf8");
  for (const name of await options()) {
    const field = name.split(".").at(-1) ?? "";
    assert.ok(profile.includes(field), `${name} is read`);
  }
});

test("each word of the manifest can be put into another language", async () => {
  const words = JSON.parse(await readFile("package.nls.json", "utf8")) as Record<string, string>;
  const used = new Set([...(await readFile("package.json", "utf8")).matchAll(/"%([^%"]+)%"/gu)].map((match) => match[1] ?? ""));
  assert.deepEqual([...used].sort(), Object.keys(words).sort());
  for (const { command, title } of commands) {
    assert.match(title, /^%.+%$/u, command);
  }
  for (const [name, { markdownDescription }] of Object.entries(configuration.properties)) {
    assert.match(markdownDescription, /^%.+%$/u, name);
  }
});

test("each command of the manifest is one of the extension's", async () => {
  const main = await readFile("src/main.ts", "utf8");
  const known = [...main.matchAll(/^ {2}(?:on|ofTask)\("(\w+)"/gmu)].map((match) => match[1] ?? "");
  for (const { command } of commands) {
    assert.ok(known.includes(command.replace("legwork.", "")), command);
  }
});
