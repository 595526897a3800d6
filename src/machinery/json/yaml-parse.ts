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
import { parsePlainYaml } from './yaml-plain.ts';
import { formatGoFloat, resolvePlainScalar } from './yaml-scalar.ts';

/** Text that is not acceptable YAML. The message reads `yaml: line 3: what is wrong`. */
export class YamlParseError extends Error {
  /** line in the whole text, counted from 1 */
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
  /** the last part of it, as it stands in the text */
  key: string;
  line: number;
}

export interface ParsedDocument {
  value: JsonValue;
  /** paths of fields given more than once, the last value won */
  duplicateFields: string[];
  /** the same with their lines, for messages; empty when the document was plain JSON */
  duplicates: DuplicateKey[];
  /** where the document starts in the whole text, counted from 1 */
  line: number;
}

/**
 * How deep a document may nest. The library recurses several frames per level, and at the end of its stack the engine does
 * not always throw: a regular expression compiled there ends the process. So nothing deeper ever reaches the part that
 * recurses; it would have room for about three times as much.
 */
const maxYamlDepth = 200;

/** Aliases may multiply a document by this many nodes before it counts as an attack. */
const maxAliasedNodes = 100_000;

/** Every document of a text that holds something, read as kubectl reads them. */
export function parseYamlDocuments(text: string, options: YamlOptions = {}): ParsedDocument[] {
  const json = parseAsJson(text, options);
  if (json) return json.value === null ? [] : [json];
  return parseAll(text, options).filter(({ value }) => value !== null);
}

/** The first document of a text; null when there is none. Later documents are ignored, as kube-apiserver does. */
export function parseYaml(text: string, options: YamlOptions = {}): ParsedDocument {
  const none: ParsedDocument = { value: null, duplicateFields: [], duplicates: [], line: 1 };
  const json = parseAsJson(text, options);
  // What stands twice is reported with its line, which reading as JSON does not tell.
  if (json && (json.duplicateFields.length === 0 || !options.duplicateLines)) return json;
  return parseAll(text, options)[0] ?? none;
}

/** How to read a text. */
export interface YamlOptions {
  /** the meaning of a scalar without quotes; kubectl's when left out */
  plainScalar?: PlainScalarReader;
  /** what becomes of integers that no double holds; they are refused when left out */
  largeIntegers?: LargeIntegers;
  /** fill `duplicates` for JSON as well */
  duplicateLines?: boolean;
}

export type PlainScalarReader = (text: string) => JsonPrimitive;

/** JSON is YAML, and by far faster to read as what it is. */
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
  const plain = parsePlainYaml(text, plainScalar);
  if (plain) return [{ ...plain, duplicateFields: [], duplicates: [] }];
  return parseWithLibrary(text, plainScalar);
}

/** Every YAML there is. Exported for comparison with the faster reader. */
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

/** The syntax of a text, which is read without recursion; too deep a text is refused as soon as that shows. */
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
    // What is being built: the document, the collections around the present place, and a scalar.
    if (parser.stack.length > maxYamlDepth + 2) throw new YamlParseError(lineAt(parser.offset), 'exceeded max depth');
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/**
 * Between brackets indentation has no meaning to Go's reader: a list may go on and end left of where it began. The library is
 * strict about that, by comparing with the indentation it expects next; there is none between brackets here.
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

/** Turns the nodes of one document into plain values. */
class Reader {
  readonly #lineAt: (offset: number) => number;
  readonly #plainScalar: PlainScalarReader;
  /** where the text ends in the middle of a line */
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

  /** Inside an expansion anchors keep the meaning they had outside of it. */
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

  /** Sets the members of a mapping in the order written; a merge sets its members where it stands, as upstream. */
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
      // Of several mappings the first one wins, so it comes last.
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
    // A line without an end has none to keep; the library adds one.
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

/** Upstream writes keys read as 64-bit integers in full, and others as floats. */
function numberKey(value: number, source: string): string {
  const isInteger = (!/[.eE]/.test(source) || /^[-+]?0[xX]/.test(source)) && value >= -(2 ** 63) && value < 2 ** 64;
  return isInteger ? String(value) : formatGoFloat(value);
}

const standardTag = 'tag:yaml.org,2002:';

/** A scalar with an explicit tag, such as `!!str 1`. Tags of one's own say nothing about how to read a scalar. */
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
