import type { Client } from '../../client/index.ts';
import {
  ApiStatusError,
  errorMessage,
  ignoreNotFound,
  isNotFound,
  type KubeObject,
  must,
  type ObjectList,
  type Resource,
} from '../../machinery/index.ts';
import { describeResource, type ServedResources } from '../served-resources.ts';
import type { ContentReport } from './conditions.ts';

export interface DeleteContentContext {
  client: Client;
  served: ServedResources;
  signal: AbortSignal;
}

/** Configuration that other objects still need during their deletion, above all credentials. It is deleted last. */
const lastKinds = new Set([
  'secrets',
  'configmaps',
  'serviceaccounts',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'events',
  'events.events.k8s.io',
]);

/**
 * Wave in which a kind is deleted: pods first, as kube-controller-manager does, so that no pod runs without its
 * configuration; then everything else; configuration last.
 */
function waveOf(resource: Resource): 0 | 1 | 2 {
  if (resource.group === '' && resource.plural === 'pods') return 0;
  return lastKinds.has(resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`) ? 2 : 1;
}

/** Deletes the content of a namespace in waves. A wave starts when nothing of the previous one remains. */
export async function deleteContent(namespace: string, context: DeleteContentContext): Promise<ContentReport> {
  const { served } = context;
  const unparsable: string[] = [];
  const waves: Resource<KubeObject>[][] = [[], [], []];
  for (const resource of served.listResources()) {
    if (!resource.namespaced) continue;
    if (resource.version === '' || resource.version.includes('/') || resource.group.includes('/')) {
      unparsable.push(`unexpected GroupVersion string: ${resource.group}/${resource.version}`);
      continue;
    }
    must(waves[waveOf(resource)], 'the wave of a kind').push(resource);
  }
  const failures: string[] = [];
  const remaining = new Map<string, number>();
  const finalizers = new Map<string, number>();
  for (const wave of waves) {
    for (const resource of wave) {
      try {
        const left = await deleteAllOf(resource, namespace, context);
        if (left.length === 0) continue;
        remaining.set(`${resource.plural}.${resource.group}`, left.length);
        for (const { metadata } of left) {
          for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
        }
        if (left.some(({ metadata }) => metadata.deletionTimestamp === undefined)) {
          failures.push(
            `unexpected items still remain in namespace: ${namespace} for gvr: ${describeResource(resource)}`,
          );
        }
      } catch (error) {
        if (context.signal.aborted) throw error;
        failures.push(errorMessage(error));
      }
    }
    if (remaining.size > 0 || failures.length > 0) break;
  }
  return { undiscovered: served.failures?.() ?? [], unparsable, failures, remaining, finalizers };
}

/** Deletes all objects of a kind in a namespace and returns those that still exist. */
async function deleteAllOf(
  resource: Resource<KubeObject>,
  namespace: string,
  context: DeleteContentContext,
): Promise<KubeObject[]> {
  const { client, signal } = context;
  const before = await listAll(resource, namespace, context);
  if (before.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) return before;
  try {
    await client.deleteCollection(resource, { namespace, propagationPolicy: 'Background', signal });
  } catch (error) {
    const unsupported = isNotFound(error) || (error instanceof ApiStatusError && error.code === 405);
    if (!unsupported) throw error;
    for (const { metadata } of before) {
      if (metadata.deletionTimestamp !== undefined) continue;
      await client
        .delete(resource, { namespace, name: metadata.name ?? '' }, { propagationPolicy: 'Background', signal })
        .catch(ignoreNotFound);
    }
  }
  return await listAll(resource, namespace, context);
}

async function listAll(
  resource: Resource<KubeObject>,
  namespace: string,
  { client, signal }: DeleteContentContext,
): Promise<KubeObject[]> {
  const items: KubeObject[] = [];
  let next: string | undefined;
  do {
    let page: ObjectList<KubeObject>;
    try {
      page = await client.list(resource, {
        namespace,
        limit: 500,
        signal,
        ...(next !== undefined && { continue: next }),
      });
    } catch (error) {
      // The kind was removed together with its definition.
      if (isNotFound(error)) return items;
      throw error;
    }
    items.push(...page.items);
    next = page.metadata.continue;
  } while (next !== undefined && next !== '');
  return items;
}
