import { describe, expect, it } from 'vitest';
import { formatYaml, type JsonObject } from '../../machinery/index.ts';
import { itemText, listText } from './list-text.ts';
import type { Representation } from './media-types.ts';

const items: JsonObject[] = [
  { metadata: { name: 'a', labels: {} }, data: { text: 'two\nlines', list: [1, [2, {}], 'x'] } },
  { metadata: { name: 'b' }, empty: [], none: null },
];
const head: JsonObject = { kind: 'ThingList', apiVersion: 'v1', metadata: { resourceVersion: '7' } };
const whole: Record<string, (value: JsonObject) => string> = {
  compact: (value) => `${JSON.stringify(value)}\n`,
  pretty: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
  yaml: (value) => formatYaml(value),
};

describe.each([
  ['compact', { as: 'object', encoding: 'json', pretty: false }],
  ['pretty', { as: 'object', encoding: 'json', pretty: true }],
  ['yaml', { as: 'object', encoding: 'yaml', pretty: false }],
] as [string, Representation][])('a list written in parts as %s', (name, representation) => {
  it.each([0, 1, 2])('of %d objects equals the list written at once', (count) => {
    const some = items.slice(0, count);
    const texts = some.map((item) => itemText(item, representation));
    expect(listText(head, 'items', texts, representation)).toBe(whole[name]!({ ...head, items: some }));
  });
});
