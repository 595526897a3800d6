import { FunctionError } from '../errors.ts';
import { formatFloat } from '../format/index.ts';
import { GoObject, Int, isList, isMap, sortedKeys, type Value, type ValueMap } from '../values/index.ts';
import type { CallContext } from './function.ts';

/** Encodes a dict as TOML: plain values first, then tables, both sorted by name. */
export function formatToml(value: Value, context: CallContext): string {
  if (!isMap(value)) return inline(value, 0);
  const writer = new TomlWriter(context);
  writer.table(value, [], 0);
  return writer.text;
}

const maxDepth = 200;

class TomlWriter {
  text = '';
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  table(map: ValueMap, path: readonly string[], depth: number): void {
    if (depth > maxDepth) throw new FunctionError('toml: value is nested too deep');
    const indent = '  '.repeat(Math.max(0, path.length));
    const keys = sortedKeys(map).filter((key) => map.get(key) !== undefined && map.get(key) !== null);
    this.#context.budget.spend(keys.length);
    for (const key of keys) {
      const value = map.get(key);
      if (!isTable(value) && !isTableList(value)) this.text += `${indent}${tomlKey(key)} = ${inline(value, 0)}\n`;
    }
    for (const key of keys) {
      const value = map.get(key);
      const inner = [...path, key];
      const name = inner.map(tomlKey).join('.');
      if (isTable(value)) {
        if (inner.length === 1 && this.text !== '') this.text += '\n';
        this.text += `${indent}[${name}]\n`;
        this.table(value, inner, depth + 1);
      } else if (isTableList(value)) {
        for (const item of value) {
          if (this.text !== '') this.text += '\n';
          this.text += `${indent}[[${name}]]\n`;
          this.table(item, inner, depth + 1);
        }
      }
      this.#context.budget.reserve(this.text.length);
    }
  }
}

const isTable = (value: Value): value is ValueMap => isMap(value);
const isTableList = (value: Value): value is ValueMap[] => isList(value) && value.length > 0 && value.every(isMap);

const tomlKey = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : quoted(key));

function inline(value: Value, depth: number): string {
  if (depth > maxDepth) throw new FunctionError('toml: value is nested too deep');
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
    const text = formatFloat(value, 'f', -1);
    return text.includes('.') ? text : `${text}.0`;
  }
  if (value instanceof Int) return String(value.value);
  if (isList(value)) return `[${value.map((item) => inline(item, depth + 1)).join(', ')}]`;
  if (isMap(value)) {
    return `{${sortedKeys(value)
      .map((key) => `${tomlKey(key)} = ${inline(value.get(key), depth + 1)}`)
      .join(', ')}}`;
  }
  if (value instanceof GoObject) return value.toText();
  throw new FunctionError('toml: cannot encode array with nil element');
}

const escapes: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};

function quoted(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what TOML escapes
  const text = value.replace(/["\\\0-\x1f\x7f]/g, (char) => {
    return escapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${text}"`;
}
