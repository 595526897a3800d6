import type { RequestContext } from '../core/http/context.ts';

export type FilterValue = string | boolean | undefined;

const comparisons: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  contains: (value, wanted) => value.includes(wanted),
  startswith: (value, wanted) => value.startsWith(wanted),
  endswith: (value, wanted) => value.endsWith(wanted),
};

/**
 * Filters by the given attributes: `name=x`, or inexact `name__contains=x`, case-insensitive with a leading `i`. Other
 * parameters are ignored, as in keystone.
 */
export function filterBy<T>(
  context: RequestContext,
  attributes: Readonly<Record<string, (row: Readonly<T>) => FilterValue>>,
): (row: Readonly<T>) => boolean {
  const filters = context.query.entries.flatMap(([argument, value]) => {
    const [name = '', comparison] = argument.split('__');
    const read = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (!read) return [];
    const wanted = value.toLowerCase();
    // MySQL's default collation ignores case, with or without the `i`.
    const compare = comparison === undefined ? undefined : comparisons[comparison.replace(/^i/, '')];
    if (comparison !== undefined && !compare) return [];
    return [
      (row: Readonly<T>): boolean => {
        const own = read(row);
        if (typeof own === 'boolean') return own === !/^(?:false|0|no|off)$/.test(wanted);
        if (own === undefined) return false;
        return compare ? compare(own.toLowerCase(), wanted) : own.toLowerCase() === wanted;
      },
    ];
  });
  return (row) => filters.every((filter) => filter(row));
}
