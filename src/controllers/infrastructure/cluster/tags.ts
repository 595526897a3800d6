import type { CallOptions } from '../../../openstack/index.ts';
import type { ClusterScope } from './scope.ts';

interface Taggable {
  readonly id: string;
  readonly tags: readonly string[];
}

/**
 * Adds the cluster's tags to a network resource and keeps its other tags. Does nothing if the cloud does not support
 * tags. Returns the updated resource.
 */
export async function ensureTags<T extends Taggable>(
  scope: ClusterScope,
  resource: T,
  tagging: { replaceTags(id: string, tags: readonly string[], options?: CallOptions): Promise<void> },
): Promise<T> {
  const missing = (scope.draft.spec.tags ?? []).filter((tag) => !resource.tags.includes(tag));
  if (missing.length === 0) return resource;
  const { openstack } = scope.access;
  if (!(await openstack.network.extensions.has('standard-attr-tag'))) return resource;
  const tags = [...resource.tags, ...missing];
  await tagging.replaceTags(resource.id, tags, { signal: scope.context.signal });
  return { ...resource, tags };
}

/** Returns `tags` for a status, left out if empty. */
export function tagsOf(resource: Taggable): { tags?: string[] } {
  return resource.tags.length === 0 ? {} : { tags: [...resource.tags] };
}

/** Returns the oldest candidate, so that the choice is stable. */
export function oldest<T extends { readonly id: string; readonly createdAt: string | undefined }>(
  candidates: readonly T[],
): T | undefined {
  let best: T | undefined;
  for (const candidate of candidates) {
    if (!best || ageOf(candidate) < ageOf(best)) best = candidate;
  }
  return best;
}

const ageOf = ({ id, createdAt }: { id: string; createdAt: string | undefined }): string => `${createdAt ?? ''}/${id}`;
