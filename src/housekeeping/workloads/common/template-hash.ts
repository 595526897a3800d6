import { isJsonObject } from '../../../machinery/index.ts';

/** Kubernetes encodes the decimal digits of its hashes with these letters, which cannot form words. */
const safeDigits = '456789bcdf';

/**
 * Returns a short hash for use in names: 32 bit FNV-1a over the JSON of the value with sorted keys. A higher
 * `collisions` yields another hash after a name clash.
 */
export function contentHash(value: unknown, collisions = 0): string {
  let hash = mixText(0x811c9dc5, value);
  if (collisions > 0) hash = mix(hash, String(collisions));
  let text = '';
  for (const digit of String(hash >>> 0)) text += safeDigits[Number(digit)];
  return text;
}

/** Keys are sorted, because their order has no meaning. */
function mixText(hash: number, value: unknown): number {
  if (Array.isArray(value)) {
    let mixed = mix(hash, '[');
    for (const item of value) mixed = mix(mixText(mixed, item), ',');
    return mix(mixed, ']');
  }
  if (!isJsonObject(value)) return mix(hash, JSON.stringify(value) ?? 'null');
  let mixed = mix(hash, '{');
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) mixed = mix(mixText(mix(mixed, JSON.stringify(key)), member), ',');
  }
  return mix(mixed, '}');
}

function mix(hash: number, text: string): number {
  let mixed = hash;
  for (let index = 0; index < text.length; index++) mixed = Math.imul(mixed ^ text.charCodeAt(index), 0x01000193);
  return mixed;
}
