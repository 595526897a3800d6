import type { Resource } from '../../machinery/index.ts';
import type { ObjectKey, ReadListOptions, WatchOptions } from '../types.ts';

/** Returns "/api/v1" or "/apis/group/version". */
export function groupVersionPath(resource: Resource): string {
  return resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
}

/** Returns the path of a collection, for all namespaces if `namespace` is absent. */
export function collectionPath(resource: Resource, namespace: string | undefined): string {
  const base = groupVersionPath(resource);
  return resource.namespaced && namespace !== undefined && namespace !== ''
    ? `${base}/namespaces/${encodeURIComponent(namespace)}/${resource.plural}`
    : `${base}/${resource.plural}`;
}

export function objectPath(resource: Resource, key: ObjectKey, subresource?: string): string {
  if (key.name === '') throw new TypeError(`a ${resource.kind} is addressed without a name`);
  if (resource.namespaced && (key.namespace === undefined || key.namespace === '')) {
    throw new TypeError(`${resource.kind} "${key.name}" is addressed without a namespace`);
  }
  const path = `${collectionPath(resource, key.namespace)}/${encodeURIComponent(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

type QueryValue = string | number | boolean | undefined;

/** Formats "?a=b&c=d"; empty if no value is set. */
export function queryString(values: Record<string, QueryValue>): string {
  let query = '';
  for (const name in values) {
    const value = values[name];
    if (value === undefined || value === '') continue;
    query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  }
  return query;
}

export function listQuery(options: ReadListOptions): Record<string, QueryValue> {
  return {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  };
}

export function watchQuery(options: WatchOptions): Record<string, QueryValue> {
  return {
    watch: true,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: options.resourceVersion,
    allowWatchBookmarks: options.allowWatchBookmarks,
    sendInitialEvents: options.sendInitialEvents,
    resourceVersionMatch: options.resourceVersionMatch,
    timeoutSeconds: options.timeoutSeconds,
  };
}
