import { type Deployment, type DeploymentStatus, Deployments, type ReplicaSet, ReplicaSets } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  deepEqual,
  formatTime,
  type IntOrString,
  isAlreadyExists,
  type JsonObject,
  type KubeObject,
  percentOf,
  type Resource,
} from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchObjects, watchOwned } from '../../runtime/index.ts';
import { templateHash } from './pods.ts';

const fieldManager = 'kube-controller-manager';
const hashLabel = 'pod-template-hash';
const revisionAnnotation = 'deployment.kubernetes.io/revision';

/** Moves a Deployment from ReplicaSet to ReplicaSet as its template changes. */
export function deploymentController(): ControllerDefinition {
  return defineController({
    name: 'deployment',
    for: Deployments as Resource<KubeObject>,
    watches: [watchObjects(Deployments), watchOwned(ReplicaSets, Deployments)],
    async reconcile({ client, cache, clock }, key) {
      const deployment = cache.lister(Deployments).get(key);
      if (!deployment || deployment.metadata.deletionTimestamp !== undefined) return done();
      const owned = cache.lister(ReplicaSets).list({
        ...(key.namespace !== undefined && { namespace: key.namespace }),
        filter: ({ metadata }) =>
          metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === deployment.metadata.uid) ??
          false,
      });
      const hash = templateHash(deployment.spec.template);
      const current = owned.find(({ metadata }) => metadata.labels?.[hashLabel] === hash);
      const old = owned.filter((set) => set !== current);
      if (!deployment.spec.paused || current) await roll(client, deployment, current, old, hash);
      await writeStatus(client, deployment, current, old, clock.now());
      return done();
    },
  });
}

async function roll(
  client: Client,
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  hash: string,
): Promise<void> {
  const wished = deployment.spec.replicas ?? 1;
  const { type, rollingUpdate } = deployment.spec.strategy ?? {};
  const oldCount = old.reduce((sum, set) => sum + (set.spec.replicas ?? 0), 0);
  const recreates = type === 'Recreate';
  const surge = recreates ? 0 : amountOf(rollingUpdate?.maxSurge ?? '25%', wished, Math.ceil);
  const unavailable = recreates ? wished : amountOf(rollingUpdate?.maxUnavailable ?? '25%', wished, Math.floor);
  const room = recreates ? (oldCount > 0 ? 0 : wished) : Math.max(0, wished + surge - oldCount);
  const target = Math.min(wished, current ? Math.max(room, Math.min(current.spec.replicas ?? 0, wished)) : room);
  if (!current) await createSet(client, deployment, old, hash, target);
  else if ((current.spec.replicas ?? 1) !== target) await scale(client, current, target);
  const ready = current?.status?.availableReplicas ?? 0;
  const oldReady = old.reduce((sum, set) => sum + (set.status?.availableReplicas ?? 0), 0);
  const oldBroken = oldCount - oldReady;
  let mayGo = recreates
    ? oldCount
    : Math.max(0, oldBroken + Math.max(0, ready + oldReady - (wished - Math.max(unavailable, surge === 0 ? 1 : 0))));
  for (const set of old) {
    const count = set.spec.replicas ?? 0;
    const going = Math.min(count, mayGo);
    if (going === 0) continue;
    mayGo -= going;
    await scale(client, set, count - going);
  }
}

async function createSet(
  client: Client,
  deployment: Deployment,
  old: readonly ReplicaSet[],
  hash: string,
  replicas: number,
): Promise<void> {
  const { metadata, spec } = deployment;
  const revision = 1 + Math.max(0, ...old.map((set) => Number(set.metadata.annotations?.[revisionAnnotation] ?? 0)));
  const template = spec.template ?? {};
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const set: ReplicaSet = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: metadata.namespace!,
      labels,
      annotations: { [revisionAnnotation]: String(revision) },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: metadata.name!,
          uid: metadata.uid!,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      replicas,
      selector: { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  try {
    await client.create(ReplicaSets, set, { fieldManager });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function scale(client: Client, set: ReplicaSet, replicas: number): Promise<void> {
  const key = { namespace: set.metadata.namespace!, name: set.metadata.name! };
  await client.patch(ReplicaSets, key, 'merge', { spec: { replicas } }, { fieldManager });
}

function amountOf(value: IntOrString, total: number, round: (value: number) => number): number {
  const percent = percentOf(value);
  return percent === undefined ? Number(value) : round((percent * total) / 100);
}

async function writeStatus(
  client: Client,
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  now: number,
): Promise<void> {
  const { metadata, spec } = deployment;
  const sets = current ? [current, ...old] : old;
  const sum = (read: (set: ReplicaSet) => number | undefined): number =>
    sets.reduce((total, set) => total + (read(set) ?? 0), 0);
  const wished = spec.replicas ?? 1;
  const replicas = sum(({ status }) => status?.replicas);
  const available = sum(({ status }) => status?.availableReplicas);
  const updated = current?.status?.replicas ?? 0;
  const unavailable = amountOf(spec.strategy?.rollingUpdate?.maxUnavailable ?? '25%', wished, Math.floor);
  const isAvailable = available >= wished - unavailable;
  const isComplete = updated === wished && replicas === wished && available >= wished;
  const status: DeploymentStatus = {
    observedGeneration: metadata.generation ?? 1,
    replicas,
    updatedReplicas: updated,
    readyReplicas: sum((set) => set.status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wished - available),
  };
  const time = formatTime(now);
  const condition = (type: string, isTrue: boolean, reason: string, message: string): JsonObject => {
    const value = isTrue ? 'True' : 'False';
    const before = deployment.status?.conditions?.find((known) => known.type === type);
    const same = before?.status === value && before.reason === reason;
    return {
      type,
      status: value,
      reason,
      message,
      lastUpdateTime: same ? (before.lastUpdateTime ?? time) : time,
      lastTransitionTime: before?.status === value ? (before.lastTransitionTime ?? time) : time,
    };
  };
  const name = current?.metadata.name ?? metadata.name;
  const wish: JsonObject = {
    ...(status as JsonObject),
    conditions: [
      isAvailable
        ? condition('Available', true, 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
        : condition('Available', false, 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'),
      isComplete
        ? condition('Progressing', true, 'NewReplicaSetAvailable', `ReplicaSet "${name}" has successfully progressed.`)
        : condition('Progressing', true, 'ReplicaSetUpdated', `ReplicaSet "${name}" is progressing.`),
    ],
  };
  if (deepEqual(wish, (deployment.status ?? {}) as unknown as JsonObject)) return;
  const key = { namespace: metadata.namespace!, name: metadata.name! };
  await client.patch(Deployments, key, 'merge', { status: wish }, { fieldManager, subresource: 'status' });
}
