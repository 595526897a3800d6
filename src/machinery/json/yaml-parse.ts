import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import { type LargeIntegers, parseJsonStrict } from './strict-json.ts';
import type { JsonObject, JsonPrimitive, JsonValue } from './value.ts';
import { isJsonObject } from './value.ts';
import { parsePlainDocuments } from './yaml-plain-documents.ts';
import { formatGoFloat, resolvePlainScalar } from './yaml-scalar.ts';

/** Invalid YAML. The message reads `yaml: line 3: what is wrong`. */
export class YamlParseError extends Error {
  /** line in the whole text, one-based */
  readonly line: number;

  constructor(line: number, detail: string, options?: { cause?: unknown }) {
    super(`yaml: line ${line}: ${detail}`, options);
    this.name = 'YamlParseError';
    this.line = line;
  }
}

export interface DuplicateKey {
  /** path of the field, such as `spec.ports[0].name` */
  field: string;
  /** last part of the path, as written in the text */
  key: string;
  line: number;
}

export interface ParsedDocument {
  value: JsonValue;
  /** paths of duplicate fields; the last value wins */
  duplicateFields: string[];
  /** duplicate fields with their lines, for messages; empty when the document was plain JSON */
  duplicates: DuplicateKey[];
  /** first line of the document in the whole text, one-based */
  line: number;
}

/**
 * Maximum nesting depth. The library recurses several frames per level. At the end of its stack the engine does not
 * always throw: a regular expression compiled there ends the process. The limit keeps deeper text away from the
 * recursive part, which could handle about three times as much.
 */
const maxYamlDepth = 200;

/** Maximum number of nodes that aliases may add to a document. More counts as an attack. */
const maxAliasedNodes = 100_000;

/** Parses all documents of a text that are not empty, as kubectl does. */
export function parseYamlDocuments(text: string, options: YamlOptions = {}): ParsedDocument[] {
  const json = parseAsJson(text, options);
  if (json) return json.value === null ? [] : [json];
  return parseAll(text, options).filter(({ value }) => value !== null);
}

/** Parses the first document of a text; null if there is none. Ignores later documents, as kube-apiserver does. */
export function parseYaml(text: string, options: YamlOptions = {}): ParsedDocument {
  const none: ParsedDocument = { value: null, duplicateFields: [], duplicates: [], line: 1 };
  const json = parseAsJson(text, options);
  // The JSON parser does not report lines of duplicates, so the text is parsed again as YAML.
  if (json && (json.duplicateFields.length === 0 || !options.duplicateLines)) return json;
  return parseAll(text, options)[0] ?? none;
}

export interface YamlOptions {
  /** resolves unquoted scalars; default: like kubectl */
  plainScalar?: PlainScalarReader;
  /** handling of integers that a double cannot represent; default: refuse */
  largeIntegers?: LargeIntegers;
  /** fill `duplicates` for JSON as well */
  duplicateLines?: boolean;
}

export type PlainScalarReader = (text: string) => JsonPrimitive;

/** JSON is valid YAML but much faster to parse as JSON. */
function parseAsJson(text: string, { largeIntegers }: YamlOptions): ParsedDocument | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return { ...parseJsonStrict(text, largeIntegers), duplicates: [], line: 1 };
}

function parseAll(text: string, options: YamlOptions): ParsedDocument[] {
  const { largeIntegers = 'refuse' } = options;
  const plainScalar = options.plainScalar ?? ((scalar: string) => resolvePlainScalar(scalar, largeIntegers));
  const plain = parsePlainDocuments(text, plainScalar);
  if (plain) return plain.map((document) => ({ ...document, duplicateFields: [], duplicates: [] }));
  return parseWithLibrary(text, plainScalar);
}

/** Parses any YAML. Exported for comparison with the faster parser. */
export function parseWithLibrary(text: string, plainScalar: PlainScalarReader): ParsedDocument[] {
  const lines = new LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  let documents = compose(shallowTokens(text, lines, lineAt, new Lexer()));
  const error = firstError(documents);
  if (error) {
    const lenient = error.code === 'BAD_INDENT' ? compose(shallowTokens(text, undefined, lineAt, flowLexer())) : [];
    if (lenient.length === 0 || firstError(lenient)) {
      throw new YamlParseError(lineAt(error.pos[0]), error.message, { cause: error });
    }
    documents = lenient;
  }
  const openEnd = text.endsWith('\n') ? Number.POSITIVE_INFINITY : text.length;
  return documents.map((document) => new Reader(lineAt, plainScalar, openEnd).read(document));
}

function compose(tokens: readonly CST.Token[]): Document.Parsed[] {
  const composer = new Composer({
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  return [...composer.compose(tokens)] as Document.Parsed[];
}

const firstError = (documents: readonly Document.Parsed[]): YAMLParseError | undefined =>
  documents.find(({ errors }) => errors.length > 0)?.errors[0];

/** Tokenizes a text without recursion. Rejects it as soon as the nesting is too deep. */
function shallowTokens(
  text: string,
  lines: LineCounter | undefined,
  lineAt: (offset: number) => number,
  lexer: Lexer,
): CST.Token[] {
  const parser = new Parser(lines?.addNewLine);
  const tokens: CST.Token[] = [];
  lines?.addNewLine(0);
  for (const lexeme of lexer.lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The stack also holds the document and a scalar, in addition to the nested collections.
    if (parser.stack.length > maxYamlDepth + 2) throw new YamlParseError(lineAt(parser.offset), 'exceeded max depth');
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/**
 * Go's parser ignores indentation inside flow collections: a list may continue and end left of its start. The library
 * is strict and compares with the expected indentation, so this lexer expects none inside brackets.
 */
function flowLexer(): Lexer {
  const lexer = new Lexer();
  let expected: unknown = Reflect.get(lexer, 'indentNext');
  Object.defineProperty(lexer, 'indentNext', {
    get: () => (Number(Reflect.get(lexer, 'flowLevel')) > 0 ? 0 : expected),
    set: (value: unknown) => {
      expected = value;
    },
  });
  return lexer;
}

/** Converts the nodes of one document to plain values. */
class Reader {
  readonly #lineAt: (offset: number) => number;
  readonly #plainScalar: PlainScalarReader;
  /** offset of the end of the text if its last line has no line break */
  readonly #openEnd: number;
  readonly #anchors = new Map<string, Node>();
  readonly #expanding = new Set<Node>();
  readonly #duplicates: DuplicateKey[] = [];
  #aliasedNodes = 0;
  #depth = 0;

  constructor(lineAt: (offset: number) => number, plainScalar: PlainScalarReader, openEnd: number) {
    this.#lineAt = lineAt;
    this.#plainScalar = plainScalar;
    this.#openEnd = openEnd;
  }

  read(document: Document.Parsed): ParsedDocument {
    const { contents } = document;
    const value = this.#value(contents, '');
    const duplicates = this.#duplicates;
    const duplicateFields = [...new Set(duplicates.map(({ field }) => field))];
    return { value, duplicateFields, duplicates, line: this.#lineAt(contents?.range?.[0] ?? document.range[0]) };
  }

  #value(node: Node | null, path: string): JsonValue {
    if (node === null) return null;
    if (this.#expanding.size > 0 && ++this.#aliasedNodes > maxAliasedNodes) {
      throw this.#error(node, 'document contains excessive aliasing');
    }
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source);
      if (!target) throw this.#error(node, `unknown anchor '${node.source}' referenced`);
      return this.#expand(target, node.source, () => this.#value(target, path));
    }
    this.#remember(node);
    if (isScalar(node)) return this.#scalar(node);
    if (++this.#depth > maxYamlDepth) throw this.#error(node, 'exceeded max depth');
    let value: JsonValue;
    if (isSeq(node)) {
      value = node.items.map((item, index) => this.#value(item as Node | null, `${path}[${index}]`));
    } else if (isMap(node)) {
      value = {};
      this.#fill(value, node, path);
    } else {
      throw this.#error(node, 'unknown kind of node');
    }
    this.#depth--;
    return value;
  }

  /** While an alias is expanded, anchors keep the meaning they had outside. */
  #remember(node: Node): void {
    const anchor = 'anchor' in node ? node.anchor : undefined;
    if (anchor !== undefined && this.#expanding.size === 0) this.#anchors.set(anchor, node);
  }

  #expand<T>(target: Node, anchor: string, read: () => T): T {
    if (this.#expanding.has(target)) throw this.#error(target, `anchor '${anchor}' value contains itself`);
    this.#expanding.add(target);
    try {
      return read();
    } finally {
      this.#expanding.delete(target);
    }
  }

  /** Sets the members of a mapping in written order. A merge key sets its members at its position, as upstream. */
  #fill(object: JsonObject, map: YAMLMap, path: string): void {
    for (const pair of map.items) {
      const key = pair.key as Node | null;
      const value = pair.value as Node | null;
      if (isMergeKey(key)) {
        this.#merge(object, value, path, key);
        continue;
      }
      const name = this.#keyName(key, map);
      const field = path === '' ? name : `${path}.${name}`;
      if (Object.hasOwn(object, name)) this.#duplicates.push({ field, key: name, line: this.#lineOf(key ?? map) });
      object[name] = this.#value(value, field);
    }
  }

  #merge(object: JsonObject, value: Node | null, path: string, at: Node): void {
    if (isAlias(value)) {
      const target = this.#anchors.get(value.source);
      if (!target) throw this.#error(value, `unknown anchor '${value.source}' referenced`);
      this.#expand(target, value.source, () => this.#merge(object, target, path, at));
    } else if (isMap(value)) {
      this.#remember(value);
      this.#fill(object, value, path);
    } else if (isSeq(value)) {
      // The first of several merged mappings wins, so it is applied last.
      for (const item of value.items.toReversed()) {
        const target = isAlias(item) ? this.#anchors.get(item.source) : item;
        if (!isMap(target)) throw this.#error(at, 'map merge requires map or sequence of maps as the value');
        this.#merge(object, item as Node, path, at);
      }
    } else {
      throw this.#error(at, 'map merge requires map or sequence of maps as the value');
    }
  }

  #keyName(key: Node | null, map: YAMLMap): string {
    const value = this.#value(key, '');
    if (value === null) throw this.#error(key ?? map, 'a key cannot be null');
    if (Array.isArray(value) || isJsonObject(value)) throw this.#error(key ?? map, 'a key cannot be a list or a map');
    if (value === '__proto__') throw this.#error(key ?? map, 'a key cannot be "__proto__"');
    return typeof value === 'number' ? numberKey(value, isScalar(key) ? String(key.source) : '') : String(value);
  }

  #scalar(node: Node & { source?: string; tag?: string; type?: string; value: unknown }): JsonPrimitive {
    let text = String(node.value ?? '');
    // The library adds a line break to a last line that has none, so it is removed.
    if (node.type?.startsWith('BLOCK_') && (node.range?.[1] ?? 0) >= this.#openEnd) text = text.replace(/\n$/, '');
    try {
      if (node.tag !== undefined) return resolveTagged(node.tag, text);
      return node.type === 'PLAIN' ? this.#plainScalar(text) : text;
    } catch (error) {
      throw this.#error(node, error instanceof Error ? error.message : String(error));
    }
  }

  #lineOf(node: Node): number {
    return this.#lineAt(node.range?.[0] ?? 0);
  }

  #error(node: Node, detail: string): YamlParseError {
    return new YamlParseError(this.#lineOf(node), detail);
  }
}

function isMergeKey(key: Node | null): key is Node {
  return isScalar(key) && key.type === 'PLAIN' && key.tag === undefined && key.source === '<<';
}

/** Upstream writes keys within int64 as integers, and others as floats. */
function numberKey(value: number, source: string): string {
  const isInteger = (!/[.eE]/.test(source) || /^[-+]?0[xX]/.test(source)) && value >= -(2 ** 63) && value < 2 ** 64;
  return isInteger ? String(value) : formatGoFloat(value);
}

const standardTag = 'tag:yaml.org,2002:';

/** Resolves a scalar with an explicit tag, such as `!!str 1`. Custom tags are ignored. */
function resolveTagged(tag: string, text: string): JsonPrimitive {
  switch (tag) {
    case `${standardTag}str`:
    case `${standardTag}timestamp`:
      return text;
    case `${standardTag}binary`:
      return decodeBinary(text);
    case `${standardTag}int`:
    case `${standardTag}float`:
    case `${standardTag}bool`:
    case `${standardTag}null`: {
      const wanted = tag.slice(standardTag.length);
      const value = resolvePlainScalar(text);
      const found = typeName(value);
      if (found !== wanted && !(wanted === 'float' && found === 'int')) {
        throw new TypeError(`cannot read \`${text}\` as !!${wanted}`);
      }
      return value;
    }
    default:
      return text;
  }
}

function typeName(value: JsonPrimitive): string {
  switch (typeof value) {
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    default:
      return value === null ? 'null' : 'str';
  }
}

function decodeBinary(text: string): string {
  const compact = text.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) {
    throw new TypeError('!!binary value contains invalid base64 data');
  }
  return new TextDecoder().decode(Uint8Array.from(atob(compact), (char) => char.charCodeAt(0)));
}
