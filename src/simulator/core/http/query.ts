import { must } from '../../../machinery/index.ts';

/** The query parameters in order, including duplicates. */
export class Query {
  readonly entries: readonly (readonly [name: string, value: string])[];

  constructor(source: string | Query['entries']) {
    this.entries = typeof source !== 'string' ? source : source === '' ? none : parse(source);
  }

  /** Returns the parameters sorted by name. Duplicates keep their order. */
  sorted(): Query {
    return new Query([...this.entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }

  /** Returns the last value of a name, like the services' frameworks. */
  get(name: string): string | undefined {
    for (let i = this.entries.length - 1; i >= 0; i--)
      if (must(this.entries[i], 'entries[i]')[0] === name) return must(this.entries[i], 'entries[i]')[1];
    return undefined;
  }

  all(name: string): string[] {
    const values: string[] = [];
    for (const [each, value] of this.entries) if (each === name) values.push(value);
    return values;
  }

  has(name: string): boolean {
    return this.entries.some(([each]) => each === name);
  }

  names(): Set<string> {
    return new Set(this.entries.map(([name]) => name));
  }

  /** Returns the encoded query with some parameters removed and others appended. */
  with(changes: Readonly<Record<string, string | undefined>>): string {
    const parts: string[] = [];
    for (const [name, value] of this.entries) if (!(name in changes)) parts.push(encode(name, value));
    for (const [name, value] of Object.entries(changes)) if (value !== undefined) parts.push(encode(name, value));
    return parts.join('&');
  }
}

const none: readonly never[] = [];

function parse(text: string): (readonly [string, string])[] {
  const entries: (readonly [string, string])[] = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    entries.push(at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))]);
  }
  return entries;
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Text that cannot be decoded is used as is and then matches nothing.
    return spaced;
  }
}

function encode(name: string, value: string): string {
  return `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}
