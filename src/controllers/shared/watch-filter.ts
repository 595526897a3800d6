import type { KubeObject } from '../../machinery/index.ts';
import { objectMatches, type Predicate } from '../../runtime/index.ts';
import { watchFilterLabel } from './names.ts';

/** Only objects meant for an instance that runs with this filter; without a filter, all of them. */
export function watchFilter(value: string | undefined): Predicate[] {
  if (value === undefined || value === '') return [];
  return [objectMatches((object: KubeObject) => object.metadata.labels?.[watchFilterLabel] === value)];
}

/** Events of other objects may name one that is not meant for this instance. */
export function isFilteredOut(object: KubeObject, value: string | undefined): boolean {
  return value !== undefined && value !== '' && object.metadata.labels?.[watchFilterLabel] !== value;
}

/** For what is made for an object: whoever looks after the one looks after the other. */
export function filterLabelOf({ metadata }: KubeObject): Record<string, string> {
  const value = metadata.labels?.[watchFilterLabel];
  return value === undefined ? {} : { [watchFilterLabel]: value };
}
