/** Resolves an absolute number or a percentage of `total`; undefined for anything else. */
export function scaledValue(
  value: number | string | undefined,
  total: number,
  round: 'up' | 'down',
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number') return value;
  const match = /^(\d+)%$/.exec(value);
  if (!match) return undefined;
  const part = (Number(match[1]) * total) / 100;
  return round === 'up' ? Math.ceil(part) : Math.floor(part);
}
