// How text of others is shown: as text. A task writes what it likes, so nothing of it is ever a link, a command or an
// order to a terminal, and what cannot be seen is made visible.

/** Controls, what changes the direction of writing, and what has no width. Tabs are drawn by the editor. */
const UNSEEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** One line in which every character can be seen. */
export function visible(line: string): string {
  return line.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** At most so many characters. */
export function cut(line: string, most: number): string {
  const characters = Array.from(line);
  return characters.length <= most ? line : `${characters.slice(0, most - 1).join("")}…`;
}

/** A fence that no run of backticks in the text can close. */
export function fence(lines: readonly string[]): string {
  let longest = 2;
  for (const line of lines) {
    for (const [run] of line.matchAll(/`+/gu)) {
      longest = Math.max(longest, run.length);
    }
  }
  return "`".repeat(longest + 1);
}

/** A block of code in Markdown that holds these lines and nothing else. */
export function block(language: string, lines: readonly string[]): string {
  const bar = fence(lines);
  return `${bar}${language}\n${lines.join("\n")}\n${bar}`;
}

/** The lines within a block of code, each so that all of it can be seen. */
export function unfenced(markdown: string): string {
  const lines = markdown.split("\n");
  const isBlock = /^`{3,}/u.test(lines[0] ?? "") && /^`{3,}$/u.test(lines.at(-1) ?? "");
  return (isBlock ? lines.slice(1, -1) : lines).map(visible).join("\n");
}
