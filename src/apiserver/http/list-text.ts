import { formatYaml, type JsonObject, type JsonValue, jsonText } from '../../machinery/index.ts';
import type { Representation } from './media-types.ts';

/** Renders one member of a long list; see listText. */
export function itemText(item: JsonValue, { encoding, pretty }: Representation): string {
  if (encoding === 'yaml') return formatYaml([item]);
  return pretty ? jsonText(item, 2).replaceAll('\n', '\n    ') : jsonText(item);
}

/**
 * Renders an object with one long list from the texts of its members. The result equals a single rendering, but the
 * members can be written one by one.
 */
export function listText(
  head: JsonObject,
  name: string,
  items: readonly string[],
  { encoding, pretty }: Representation,
): string {
  if (encoding === 'yaml') {
    const sections = [...Object.keys(head), name].sort().map((key) => {
      if (key !== name) return formatYaml({ [key]: head[key] ?? null });
      return items.length === 0 ? `${name}: []\n` : `${name}:\n${items.join('')}`;
    });
    return sections.join('');
  }
  if (!pretty) return `${jsonText(head).slice(0, -1)},"${name}":[${items.join(',')}]}\n`;
  const start = jsonText(head, 2).slice(0, -'\n}'.length);
  const list = items.length === 0 ? '[]' : `[\n    ${items.join(',\n    ')}\n  ]`;
  return `${start},\n  "${name}": ${list}\n}\n`;
}
