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

/** Parses "apps/v1" as {group: "apps", version: "v1"}. The core group is the empty string. */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export function formatApiVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Formats a resource for messages: "deployments.apps", or "pods" for the core group. */
export function formatGroupResource(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/**
 * Everything needed to address a kind over REST. `T` is a phantom type, so that clients return the right object type.
 */
export interface Resource<T = KubeObject> extends GroupVersionKind {
  plural: string;
  namespaced: boolean;
  /** never set at run time */
  readonly __type?: T;
}

const versionPattern = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;

/**
 * Compares by Kubernetes version priority: GA before beta before alpha, higher numbers first, other names last in
 * alphabetical order.
 */
export function compareVersionPriority(a: string, b: string): number {
  const left = versionPattern.exec(a);
  const right = versionPattern.exec(b);
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  const rank = (level: string | undefined): number => (level === undefined ? 0 : level === 'beta' ? 1 : 2);
  return (
    rank(left[2]) - rank(right[2]) || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}
