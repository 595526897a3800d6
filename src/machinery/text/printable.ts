/*
 * Names, conditions, events and errors come from others: tenants, clouds, foreign servers. None of them may move the
 * cursor, rename the window or recolour output that a person takes for ours.
 */

// ESC or its one-character form, then: colours and cursor; titles, links and clipboard up to their end; anything else.
const escapes =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;
// The rest of the control characters but tab and line feed, and those that turn the direction of writing.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Removes everything a terminal interprets, except line feeds and tabs. */
export function printable(text: string): string {
  return text.replace(escapes, '').replace(controls, '');
}

/** Like printable, but on one line. */
export function printableLine(text: string): string {
  const lines = text.split(/[\n\t]/);
  if (lines.length === 1) return printable(text);
  return printable(
    lines
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' '),
  );
}

const unescapedByJson = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Escapes everything in JSON that a terminal interprets. JSON itself escapes only characters below the space. */
export function printableJson(json: string): string {
  return json.replace(unescapedByJson, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Formats a value as JSON, for programs and people. */
export function formatJson(value: unknown): string {
  return `${printableJson(JSON.stringify(value, undefined, 2))}\n`;
}
