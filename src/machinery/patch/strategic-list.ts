import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { PatchError } from './patch-error.ts';
import { directiveMarker, goFormat, goTypeName } from './strategic-directives.ts';

/** Positions of list elements by merge key, or by value without one. The first of equal elements counts. */
export class Positions {
  readonly #mergeKey: string;
  readonly #positions = new Map<JsonValue | undefined, number>();

  constructor(list: readonly JsonValue[], mergeKey: string) {
    this.#mergeKey = mergeKey;
    for (const [i, item] of list.entries()) this.add(item, i);
  }

  add(element: JsonValue, position: number): void {
    const key = this.#keyOf(element);
    if (!this.#positions.has(key)) this.#positions.set(key, position);
  }

  /** Returns -1 when absent. */
  of(element: JsonValue): number {
    return this.#positions.get(this.#keyOf(element)) ?? -1;
  }

  #keyOf(element: JsonValue): JsonValue | undefined {
    return this.#mergeKey === '' ? element : keyOf(element, this.#mergeKey);
  }
}

export function keyOf(item: JsonValue, mergeKey: string): JsonValue | undefined {
  return isJsonObject(item) ? item[mergeKey] : undefined;
}

export function missingMergeKey(item: JsonValue, mergeKey: string): PatchError {
  return new PatchError(500, `map: ${goFormat(item)} does not contain declared merge key: ${mergeKey}`);
}

/**
 * Orders a merged list as kube-apiserver does. Elements in the patch follow the patch order. Elements only in the live
 * list keep their order, each before the first patch element it used to precede.
 */
export function orderElements(
  merged: readonly JsonValue[],
  wanted: readonly JsonValue[],
  live: readonly JsonValue[],
  mergeKey: string,
): JsonValue[] {
  const inPatch = new Positions(wanted, mergeKey);
  const inLive = new Positions(live, mergeKey);
  const fromPatch: JsonValue[] = [];
  const serverOnly: JsonValue[] = [];
  for (const item of merged) {
    if (mergeKey !== '' && keyOf(item, mergeKey) === undefined) throw missingMergeKey(item, mergeKey);
    (inPatch.of(item) >= 0 ? fromPatch : serverOnly).push(item);
  }
  fromPatch.sort((a, b) => inPatch.of(a) - inPatch.of(b));
  serverOnly.sort((a, b) => inLive.of(a) - inLive.of(b));

  const ordered: JsonValue[] = [];
  let next = 0;
  for (const item of fromPatch) {
    const position = inLive.of(item);
    const start = next;
    while (position >= 0 && next < serverOnly.length) {
      const serverPosition = inLive.of(serverOnly[next] ?? null);
      if (serverPosition < 0 || serverPosition >= position) break;
      next++;
    }
    for (const own of serverOnly.slice(start, next)) ordered.push(own);
    ordered.push(item);
  }
  return [...ordered, ...serverOnly.slice(next)];
}

/** `$setElementOrder` must name every element of the patch list in the same relative order. */
export function checkElementOrder(patch: readonly JsonValue[], wanted: readonly JsonValue[], mergeKey: string): void {
  if (patch.length === 0 || wanted.length === 0) return;
  const kept = patch.filter((item) => !(isJsonObject(item) && item[directiveMarker] !== undefined));
  let matched = 0;
  for (const place of wanted) {
    const item = kept[matched];
    if (item === undefined) return;
    if (mergeKey !== '') {
      if (keyOf(item, mergeKey) === undefined) throw missingMergeKey(item, mergeKey);
      if (keyOf(place, mergeKey) === undefined) throw missingMergeKey(place, mergeKey);
    }
    const same = mergeKey === '' ? item === place : keyOf(item, mergeKey) === keyOf(place, mergeKey);
    if (same) matched++;
  }
  if (matched < kept.length) {
    throw new PatchError(
      500,
      `The order in patch list:\n${goFormat([...patch])}\n doesn't match $setElementOrder list:\n${goFormat([...wanted])}\n`,
    );
  }
}

/** Checks that all elements have one type, because only then lists merge. Returns whether this type is object. */
export function elementsAreObjects(live: readonly JsonValue[], patch: readonly JsonValue[]): boolean {
  let type: string | undefined;
  for (const list of [live, patch]) {
    for (const item of list) {
      const current = goTypeName(item);
      type ??= current;
      if (type === '[]interface {}') throw new PatchError(422, 'lists of lists are not supported');
      if (current !== type) {
        throw new PatchError(500, `list element types are not identical: ${goFormat([[...live], [...patch]])}`);
      }
    }
  }
  return type === 'map[string]interface {}';
}

/** Splits a patch list of objects into removals from the live list and elements to merge. */
export function applySpecialElements(
  live: readonly JsonValue[],
  patch: readonly JsonValue[],
  mergeKey: string,
): { live: JsonValue[]; patch: JsonObject[] } {
  const plain: JsonObject[] = [];
  const deleted = new Set<JsonValue | undefined>();
  let replace = false;
  for (const entry of patch) {
    const item = entry as JsonObject;
    const directive = item[directiveMarker];
    if (directive === undefined) {
      plain.push(item);
    } else if (directive === 'delete') {
      const key = item[mergeKey];
      if (key === undefined) throw missingMergeKey(item, mergeKey);
      deleted.add(key);
    } else if (directive === 'replace') {
      replace = true;
    } else if (directive === 'merge') {
      throw new PatchError(500, 'merging lists cannot yet be specified in the patch');
    } else {
      throw new PatchError(500, `unknown patch type: ${goFormat(directive)} in map: ${goFormat(item)}`);
    }
  }
  if (replace) return { live: plain, patch: [] };
  return { live: live.filter((candidate) => !deleted.has(keyOf(candidate, mergeKey))), patch: plain };
}
