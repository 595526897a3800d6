import type { CallOptions } from '../../../openstack/index.ts';
import type { ClusterScope } from './scope.ts';

interface Taggable {
  readonly id: string;
  readonly tags: readonly string[];
}

/**
 * Gives a network resource the tags of the cluster, keeping others it has. Clouds that cannot tag do without. Returns the
 * resource as it is afterwards.
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

/** `tags` for a status, left out when there are none. */
export function tagsOf(resource: Taggable): { tags?: string[] } {
  return resource.tags.length === 0 ? {} : { tags: [...resource.tags] };
}

/** The oldest of several: whoever looks finds the same one. */
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
