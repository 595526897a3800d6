import type { KubeObject } from './types.ts';

export interface GroupVersion {
  group: string;
  version: string;
}

export interface GroupKind {
  group: string;
  kind: string;
}

export interface GroupVersionKind extends GroupVersion {
  kind: string;
}

export interface GroupResource {
  group: string;
  resource: string;
}

/** "apps/v1" -> {group: "apps", version: "v1"}; the core group is the empty string. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export function formatApiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** "deployments.apps", or just "pods" for the core group: how messages name a resource. */
export function formatGroupResource(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/**
 * Everything needed to address a kind over REST, with the object's type attached for the compiler.
 * `T` is a phantom: it exists only so that clients return the right type.
 */
export interface Resource<T = KubeObject> extends GroupVersionKind {
  plural: string;
  namespaced: boolean;
  /** never set at run time */
  readonly __type?: T;
}

const versionPattern = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;

/** Kubernetes version priority: GA before beta before alpha, higher numbers first, odd names last by alphabet. */
export function compareVersionPriority(a: string, b: string): number {
  const left = versionPattern.exec(a);
  const right = versionPattern.exec(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const rank = (level: string | undefined): number => (level === undefined ? 0 : level === 'beta' ? 1 : 2);
  return (
    rank(left[2]) - rank(right[2]) || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}
