import type { TypeTable } from './type-table.ts';

/** A parsed but unresolved type of a table. */
export interface TypeDeclaration {
  readonly name: string;
  readonly description: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly fields: readonly FieldDeclaration[];
}

export interface FieldDeclaration {
  readonly name: string;
  readonly number: number;
  /** without list, map and pointer marks */
  readonly typeName: string;
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  readonly pointer: boolean;
  readonly flags: ReadonlyMap<string, string>;
  readonly description: string;
}

/** Position and header of a type in the text of its table. */
export interface TypeHeader {
  readonly name: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly description: string;
  readonly start: number;
  readonly end: number;
}

const flagPattern = /([A-Za-z]+)(?:\(([^)]*)\))?/g;
const noFlags: ReadonlyMap<string, string> = new Map();

/** Finds the types of a table without parsing their fields; startup needs no more. */
export function readHeaders(table: TypeTable): TypeHeader[] {
  const text = table.text;
  const headers: TypeHeader[] = [];
  const pattern = /^[A-Z].*$/gm;
  let match = pattern.exec(text);
  while (match !== null) {
    const next = pattern.exec(text);
    headers.push(readHeader(match[0], match.index + match[0].length, next === null ? text.length : next.index));
    match = next;
  }
  return headers;
}

function readHeader(line: string, start: number, end: number): TypeHeader {
  const { code, description } = splitDescription(line);
  const space = code.indexOf(' ');
  return {
    name: space < 0 ? code : code.slice(0, space),
    flags: space < 0 ? noFlags : readFlags(code.slice(space + 1)),
    description,
    start,
    end,
  };
}

/** Parses the fields of one type. Throws on invalid notation, because tables are part of the program. */
export function readFields(table: TypeTable, header: TypeHeader): FieldDeclaration[] {
  const fields: FieldDeclaration[] = [];
  for (const line of table.text.slice(header.start, header.end).split('\n')) {
    const trimmed = line.trim();
    if (trimmed !== '' && trimmed[0] !== '#') fields.push(readField(trimmed, `${table.alias}.${header.name}`));
  }
  return fields;
}

const fieldPattern = /^(\S+) +(\d+) +(\S+)(?: +(.*))?$/;
const typePattern = /^(\*)?(\[\]|map\[string\])?([A-Za-z][\w.]*)$/;

function readField(line: string, owner: string): FieldDeclaration {
  const { code, description } = splitDescription(line);
  const [, name, number, typeText = '', flags] = fieldPattern.exec(code) ?? [];
  const type = readType(typeText);
  if (name === undefined || type === undefined) {
    throw new Error(`type table: ${owner} has a line that is not a field: ${line}`);
  }
  return {
    name,
    number: Number(number),
    typeName: type.typeName,
    shape: name === '...' ? 'inline' : type.shape,
    pointer: type.pointer,
    flags: flags === undefined ? noFlags : readFlags(flags),
    description,
  };
}

type FieldType = Pick<FieldDeclaration, 'typeName' | 'shape' | 'pointer'>;

// Thousands of fields share a few hundred types and flags, so each distinct one is parsed once.
const knownTypes = new Map<string, FieldType>();
const knownFlags = new Map<string, ReadonlyMap<string, string>>();

function readType(text: string): FieldType | undefined {
  let type = knownTypes.get(text);
  if (type === undefined) {
    const [, pointer, container, typeName] = typePattern.exec(text) ?? [];
    if (typeName === undefined) return undefined;
    const shape = container === undefined ? 'one' : container === '[]' ? 'list' : 'map';
    type = { typeName, shape, pointer: pointer !== undefined };
    knownTypes.set(text, type);
  }
  return type;
}

function splitDescription(line: string): { code: string; description: string } {
  const mark = line.indexOf(' # ');
  return mark < 0
    ? { code: line.trimEnd(), description: '' }
    : { code: line.slice(0, mark).trimEnd(), description: line.slice(mark + 3).trim() };
}

function readFlags(text: string): ReadonlyMap<string, string> {
  const known = knownFlags.get(text);
  if (known !== undefined) return known;
  const flags = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(flagPattern)) flags.set(name, value);
  knownFlags.set(text, flags);
  return flags;
}
