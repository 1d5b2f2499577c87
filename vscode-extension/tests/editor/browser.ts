// VS Code in a browser, as a user sees it: keys, the mouse, and what stands on the screen. `tests/vscode` starts a file
// of this directory with what it needs to know.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";

import { chromium, type Locator, type Page } from "playwright-core";

/** So long the screen may take to show what is expected of it. Tests share two processors. */
export const PATIENCE = 60_000;

export interface Stage<More> {
  readonly url: string;
  readonly folder: string;
  readonly pictures: string;
  readonly server: string;
  readonly more: More;
}

/** Opens the editor, does what is to be done, and takes a picture of how it ended. */
export async function drive<More>(work: (code: Code, stage: Stage<More>) => Promise<void>): Promise<void> {
  const stage = JSON.parse(process.env["LEGWORK_STAGE"] ?? "{}") as Stage<More>;
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(PATIENCE);
  const code = new Code(page, stage.folder, stage.pictures);
  try {
    await code.load(stage.url, stage.folder);
    await work(code, stage);
    await code.picture("end");
  } catch (error) {
    await code.picture("failed").catch(() => undefined);
    console.error(error);
    process.exitCode = 1;
  }
  await browser.close();
}

export class Code {
  public readonly page: Page;
  private readonly folder: string;
  private readonly pictures: string;

  // Node reads TypeScript by leaving its types out, so the short form is none here.
  public constructor(page: Page, folder: string, pictures: string) {
    this.page = page;
    this.folder = folder;
    this.pictures = pictures;
  }

  /** Opens a folder, and waits until the extension is there. */
  public async load(url: string, folder: string): Promise<void> {
    const before = Date.now();
    await this.page.goto(`${url}?folder=${encodeURIComponent(folder)}`, { waitUntil: "domcontentloaded", timeout: 3 * PATIENCE });
    await this.status().waitFor({ timeout: 3 * PATIENCE });
    console.log(`the editor and the extension were there after ${Date.now() - before} ms`);
  }

  public async picture(name: string): Promise<void> {
    await this.page.screenshot({ path: path.join(this.pictures, `${name}.png`) });
  }

  public async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      await this.page.keyboard.press(key);
    }
  }

  public async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /** The box at the top, when it is ready for `prompt`. */
  public async box(prompt: string): Promise<void> {
    const widget = this.page.locator(".quick-input-widget", { hasText: prompt });
    await widget.locator("input").first().waitFor();
  }

  /** The box that a key opens. A key that comes while the editor is busy with its start can be lost: it is pressed again. */
  private async quickInput(key: string): Promise<Locator> {
    const input = this.page.locator(".quick-input-widget input").first();
    for (let left = 5; left > 0; left--) {
      await this.press(key);
      const came = input.waitFor({ timeout: 10_000 }).then(
        () => true,
        () => false,
      );
      if (await came) {
        return input;
      }
    }
    await input.waitFor();
    return input;
  }

  /** A command from the palette, by its title. */
  public async command(title: string): Promise<void> {
    const input = await this.quickInput("F1");
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().waitFor();
    await this.press("Enter");
  }

  /** Opens a file of the folder, and waits until its text is there. */
  public async open(name: string): Promise<void> {
    const input = await this.quickInput("Control+P");
    await input.fill(name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
    await this.press("Enter");
    await this.page.locator(".tab.active", { hasText: name }).waitFor();
  }

  /** The lines of the editor in front that can be seen, without what the extension writes beside them. */
  public async lines(): Promise<string[]> {
    return this.page.evaluate(() => {
      interface Box {
        textContent: string | null;
        style: { top: string };
        querySelectorAll(selector: string): Iterable<Box & { className: string }>;
      }
      const { document } = globalThis as unknown as { document: Box };
      // The box of a thread is an editor as well, and comes after the one that it is in.
      const [text] = document.querySelectorAll(".editor-instance .view-lines");
      const all = [...(text?.querySelectorAll(".view-line") ?? [])];
      all.sort((a, b) => Number.parseFloat(a.style.top) - Number.parseFloat(b.style.top));
      return all.map((line) => {
        const own = [...line.querySelectorAll("span > span")].filter((part) => !part.className.includes("ced-"));
        return own.map((part) => part.textContent ?? "").join("").replaceAll("\u00a0", " ");
      });
    });
  }

  /** Waits until the editor shows such lines. */
  public async shows(what: string, wanted: (lines: string[]) => boolean): Promise<void> {
    const seen = { lines: [] as string[] };
    await this.eventually(() => `the editor shows ${what}; it shows ${JSON.stringify(seen.lines)}`, async () => {
      seen.lines = await this.lines();
      return wanted(seen.lines);
    });
  }

  /** Waits until a file on the disk holds this. */
  public async holds(name: string, text: string): Promise<void> {
    const file = path.join(this.folder, name);
    const read = { text: "" };
    await this.eventually(() => `${name} holds ${JSON.stringify(text)}; it holds ${JSON.stringify(read.text)}`, async () => {
      read.text = await readFile(file, "utf8");
      return read.text === text;
    });
  }

  public async eventually(what: () => string, holds: () => Promise<boolean>): Promise<void> {
    const begun = Date.now();
    while (!(await holds())) {
      assert.ok(Date.now() - begun < PATIENCE, `after ${PATIENCE} ms: ${what()}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Waits until so many hunks of the file in front have their lenses. */
  public async waiting(count: number): Promise<void> {
    const lenses = this.page.locator(".codelens-decoration", { hasText: "Legwork" });
    const seen = { count: -1 };
    await this.eventually(() => `${count} hunks wait; ${seen.count} do`, async () => {
      seen.count = await lenses.count();
      return seen.count === count;
    });
  }

  /** The open thread of a hunk. */
  public thread(): Locator {
    return this.page.locator(".review-widget").filter({ visible: true });
  }

  /** Waits until one thread is open, and shows this. */
  public async opened(text: string | RegExp): Promise<void> {
    await this.page.locator(".review-widget", { hasText: text }).filter({ visible: true }).waitFor();
    assert.equal(await this.thread().count(), 1, "one thread is open at a time");
  }

  /** The colour of a text in the open thread. */
  public async colour(text: string): Promise<string> {
    return this.thread().getByText(text, { exact: true }).evaluate((element) => {
      const { getComputedStyle } = globalThis as unknown as {
        getComputedStyle: (of: unknown) => { color: string };
      };
      return getComputedStyle(element).color;
    });
  }

  /** The item of the status bar. */
  public status(): Locator {
    return this.page.locator(".statusbar-item", { hasText: "Legwork" }).first();
  }

  /** A message in the corner. */
  public toast(text: string | RegExp): Locator {
    return this.page.locator(".notification-toast", { hasText: text }).first();
  }

  /** Chooses a button of a message in the corner. */
  public async choose(text: string | RegExp, button: string): Promise<void> {
    const toast = this.toast(text);
    await toast.waitFor();
    await toast.locator(".monaco-button", { hasText: button }).first().click();
  }

  /** Shows the Tasks view. */
  public async tasks(): Promise<void> {
    await this.press("Control+Alt+l", "t");
    await this.page.locator(".sidebar", { hasText: "Tasks" }).waitFor();
  }

  /** A row of the Tasks view. */
  public row(text: string | RegExp): Locator {
    return this.page.locator(".sidebar .monaco-list-row", { hasText: text }).first();
  }
}
