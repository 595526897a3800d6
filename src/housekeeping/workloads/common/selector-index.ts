import type { Informer, Lister } from '../../../client/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';

type Labels = Readonly<Record<string, string>>;

const bySelector = 'by-selector';
const bySelectorKeys = 'by-selector-keys';

/**
 * Indexes objects with label selectors (Services, budgets), so that they can be found by the labels of a Pod. A
 * namespace may hold thousands of selectors with the same few keys, of which two match a given Pod.
 */
export function indexBySelector<T extends KubeObject>(
  informer: Informer<T>,
  selectorOf: (object: T) => Labels | undefined,
): Lister<T> {
  informer.addIndexer(bySelectorKeys, (object) => {
    const selector = selectorOf(object);
    return selector ? [JSON.stringify(Object.keys(selector).sort())] : [];
  });
  informer.addIndexer(bySelector, (object) => {
    const selector = selectorOf(object);
    if (!selector) return [];
    return [selectorValue(object.metadata.namespace, Object.keys(selector).sort(), selector)];
  });
  return informer.lister;
}

/** Finds the objects in the namespace whose selector matches these labels. */
export function selecting<T extends KubeObject>(lister: Lister<T>, namespace: string, labels: Labels = {}): T[] {
  const found: T[] = [];
  for (const asked of lister.indexValues(bySelectorKeys)) {
    const keys = JSON.parse(asked) as string[];
    if (keys.every((key) => Object.hasOwn(labels, key)))
      found.push(...lister.byIndex(bySelector, selectorValue(namespace, keys, labels)));
  }
  return found;
}

function selectorValue(namespace: string | undefined, keys: readonly string[], labels: Labels): string {
  return `${namespace ?? ''}/${JSON.stringify(keys.map((key) => [key, labels[key]]))}`;
}
