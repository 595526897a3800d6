import type { KubeObject } from '../../machinery/index.ts';
import { objectMatches, type Predicate } from '../../runtime/index.ts';
import { watchFilterLabel } from './names.ts';

/** Restricts events to objects with this watch-filter label; without a value, all pass. */
export function watchFilter(value: string | undefined): Predicate[] {
  if (value === undefined || value === '') return [];
  return [objectMatches((object: KubeObject) => object.metadata.labels?.[watchFilterLabel] === value)];
}

/** Tells whether an object is excluded by the watch filter; events of other objects may lead to it. */
export function isFilteredOut(object: KubeObject, value: string | undefined): boolean {
  return value !== undefined && value !== '' && object.metadata.labels?.[watchFilterLabel] !== value;
}

/** Copies the watch-filter label to objects created for this one, so that the same instance reconciles both. */
export function filterLabelOf({ metadata }: KubeObject): Record<string, string> {
  const value = metadata.labels?.[watchFilterLabel];
  return value === undefined ? {} : { [watchFilterLabel]: value };
}
