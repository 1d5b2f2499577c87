// Where the program `legwork` is, and whether it fits.

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";

export type Found =
  | { readonly kind: "found"; readonly program: string }
  | { readonly kind: "missing"; readonly why: string };

/** What it is looked for by. */
export interface Places {
  /** The setting, or empty. */
  readonly setting: string;
  /** Where a bundled one would be. */
  readonly bundled: string;
  /** The variable `PATH`. */
  readonly path: string;
  /** The user's home, for a `~` in the setting. */
  readonly home: string;
}

export async function find(places: Places): Promise<Found> {
  if (places.setting !== "") {
    const program = places.setting.replace(/^~(?=\/)/u, places.home);
    if (!path.isAbsolute(program)) {
      return { kind: "missing", why: `the setting legwork.server.path is ${program}, which is no absolute path` };
    }
    if (!(await isProgram(program))) {
      return { kind: "missing", why: `${program}, which the setting legwork.server.path names, is no program` };
    }
    return { kind: "found", program };
  }
  const onPath = places.path
    .split(path.delimiter)
    .filter((dir) => path.isAbsolute(dir))
    .map((dir) => path.join(dir, "legwork"));
  for (const program of [places.bundled, ...onPath]) {
    if (await isProgram(program)) {
      return { kind: "found", program };
    }
  }
  return { kind: "missing", why: "there is no program legwork on the PATH" };
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** The version that a program says, such as `0.1.0`. */
export function versionOf(output: string): string | undefined {
  return /^legwork (\d+\.\d+\.\d+\S*)/u.exec(output)?.[1];
}

/** Versions speak with one another while their first two numbers are the same. */
export function fits(server: string, extension: string): boolean {
  const first = (version: string): string => version.split(".").slice(0, 2).join(".");
  return first(server) === first(extension);
}

/** Why a program does not fit, if it does not. */
export async function misfit(program: string, extension: string): Promise<string | undefined> {
  const said = await new Promise<string | undefined>((resolve) => {
    execFile(program, ["--version"], { timeout: 10_000, maxBuffer: 65_536 }, (error, stdout) => {
      resolve(error === null ? stdout : undefined);
    });
  });
  const version = said === undefined ? undefined : versionOf(said);
  if (version === undefined) {
    return `${program} does not say a version: it is not Legwork, or does not run here`;
  }
  return fits(version, extension)
    ? undefined
    : `${program} is version ${version}, and this extension is made for version ${extension}`;
}
