import { ClusterResourceSets, Clusters, Secrets } from '../../src/api/index.ts';
import type { Client } from '../../src/client/index.ts';
import { isJsonObject, type KubeObject } from '../../src/machinery/index.ts';
import { namespace } from './cluster-manifests.ts';

const by = { fieldManager: 'user' };
const name = 'for-every-cluster';
const object = { namespace: 'kube-system', name: 'from-a-set' };

/** Creates a ClusterResourceSet that gives every cluster a ConfigMap. */
export async function createResourceSet(client: Client): Promise<void> {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: object, data: { given: 'yes' } };
  await client.create(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      type: 'addons.cluster.x-k8s.io/resource-set',
      data: { manifest: Buffer.from(JSON.stringify(manifest)).toString('base64') },
    },
    by,
  );
  await client.create(
    ClusterResourceSets,
    {
      apiVersion: 'addons.cluster.x-k8s.io/v1beta2',
      kind: 'ClusterResourceSet',
      metadata: { name, namespace },
      spec: {
        strategy: 'Reconcile',
        clusterSelector: { matchExpressions: [{ key: 'without-set', operator: 'DoesNotExist' }] },
        resources: [{ kind: 'Secret', name }],
      },
    },
    by,
  );
}

/** Returns which clusters lack the resources of the set, or undefined. */
export async function lackOfSets(client: Client): Promise<string | undefined> {
  if ((await client.list(Clusters, { namespace })).items.length === 0) return undefined;
  const set: KubeObject & { status?: unknown } = await client.get(ClusterResourceSets, { namespace, name });
  const conditions = isJsonObject(set.status) ? set.status['conditions'] : undefined;
  const applied = (Array.isArray(conditions) ? conditions : [])
    .filter(isJsonObject)
    .find(({ type }) => type === 'ResourcesApplied');
  return applied?.['status'] === 'True' ? undefined : `ClusterResourceSet: ${String(applied?.['message'])}`;
}
