import {
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  type StatefulSet,
  StatefulSets,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { deepEqual, isAlreadyExists, type JsonObject, type KubeObject, type Resource } from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchObjects, watchOwned } from '../../runtime/index.ts';
import { isPodReady } from './placement.ts';
import { createPod, deletePod, indexPodsByOwner, ownedPods, podFromTemplate, templateHash } from './pods.ts';

const fieldManager = 'kube-controller-manager';
const revisionLabel = 'controller-revision-hash';

/** Keeps the numbered Pods of a StatefulSet, one after the other unless it says otherwise. */
export function statefulSetController(): ControllerDefinition {
  return defineController({
    name: 'statefulset',
    for: StatefulSets as Resource<KubeObject>,
    watches: [watchObjects(StatefulSets), watchOwned(Pods, StatefulSets)],
    setup: indexPodsByOwner,
    async reconcile({ client, cache }, key) {
      const set = cache.lister(StatefulSets).get(key);
      if (!set || set.metadata.deletionTimestamp !== undefined) return done();
      const pods = ownedPods(cache.lister(Pods), set);
      const revision = `${set.metadata.name}-${templateHash(set.spec.template)}`;
      await arrange(client, set, pods, revision);
      await writeStatus(client, set, pods, revision);
      return done();
    },
  });
}

/** One step towards the wish: what must wait for another Pod waits for its event. */
async function arrange(client: Client, set: StatefulSet, pods: readonly Pod[], revision: string): Promise<void> {
  const isParallel = set.spec.podManagementPolicy === 'Parallel';
  const wished = set.spec.replicas ?? 1;
  const first = set.spec.ordinals?.start ?? 0;
  for (let ordinal = first; ordinal < first + wished; ordinal++) {
    const name = `${set.metadata.name}-${ordinal}`;
    const pod = pods.find(({ metadata }) => metadata.name === name);
    if (!pod) await createMember(client, set, name, ordinal, revision);
    if (!isParallel && !(pod && isPodReady(pod) && pod.metadata.deletionTimestamp === undefined)) return;
  }
  const ordinalOf = (pod: Pod): number => Number(/-(\d+)$/.exec(pod.metadata.name ?? '')?.[1] ?? 0);
  const surplus = pods
    .filter((pod) => ordinalOf(pod) >= first + wished || ordinalOf(pod) < first)
    .sort((a, b) => ordinalOf(b) - ordinalOf(a));
  for (const pod of surplus) {
    if (pod.metadata.deletionTimestamp === undefined) await deletePod(client, pod);
    if (!isParallel) return;
  }
  if (set.spec.updateStrategy?.type === 'OnDelete' || surplus.length > 0) return;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  const outdated = pods
    .filter((pod) => pod.metadata.labels?.[revisionLabel] !== revision && ordinalOf(pod) >= partition)
    .sort((a, b) => ordinalOf(b) - ordinalOf(a));
  const [next] = outdated;
  if (next && pods.every((pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined)) {
    await deletePod(client, next);
  }
}

async function createMember(
  client: Client,
  set: StatefulSet,
  name: string,
  ordinal: number,
  revision: string,
): Promise<void> {
  const labels = {
    'apps.kubernetes.io/pod-index': String(ordinal),
    [revisionLabel]: revision,
    'statefulset.kubernetes.io/pod-name': name,
  };
  const pod = podFromTemplate(set, set.spec.template ?? {}, { name, labels });
  const claims = set.spec.volumeClaimTemplates ?? [];
  for (const claim of claims) await createClaim(client, set, claim, `${claim.metadata.name}-${name}`);
  pod.spec = {
    ...pod.spec,
    hostname: name,
    ...(set.spec.serviceName !== undefined && { subdomain: set.spec.serviceName }),
    ...(claims.length > 0 && {
      volumes: [
        ...(pod.spec.volumes ?? []),
        ...claims.map(({ metadata }) => ({
          name: metadata.name!,
          persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
        })),
      ],
    }),
  };
  await createPod(client, pod, fieldManager);
}

async function createClaim(
  client: Client,
  set: StatefulSet,
  template: PersistentVolumeClaim,
  name: string,
): Promise<void> {
  const claim: PersistentVolumeClaim = {
    ...template,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: set.metadata.namespace!,
      labels: { ...template.metadata.labels, ...set.spec.selector?.matchLabels },
    },
  };
  try {
    await client.create(PersistentVolumeClaims, claim, { fieldManager });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function writeStatus(client: Client, set: StatefulSet, pods: readonly Pod[], revision: string): Promise<void> {
  const ready = pods.filter(isPodReady).length;
  const updated = pods.filter((pod) => pod.metadata.labels?.[revisionLabel] === revision).length;
  const isComplete = updated === pods.length && ready === pods.length;
  const status: NonNullable<StatefulSet['status']> = {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: pods.length,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: isComplete ? pods.length : pods.length - updated,
    updatedReplicas: updated,
    currentRevision: isComplete ? revision : (set.status?.currentRevision ?? revision),
    updateRevision: revision,
    collisionCount: 0,
  };
  const { conditions: _conditions, ...before } = set.status ?? {};
  if (deepEqual(status as JsonObject, before as JsonObject)) return;
  const key = { namespace: set.metadata.namespace!, name: set.metadata.name! };
  await client.patch(
    StatefulSets,
    key,
    'merge',
    { status: status as JsonObject },
    { fieldManager, subresource: 'status' },
  );
}
