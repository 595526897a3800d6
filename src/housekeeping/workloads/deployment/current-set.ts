import {
  type Deployment,
  Deployments,
  type PodTemplateSpec,
  type ReplicaSet,
  ReplicaSets,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import {
  createMergePatch,
  deepEqual,
  errorMessage,
  isAlreadyExists,
  type JsonObject,
  must,
} from '../../../machinery/index.ts';
import { isNamespaceTerminating } from '../common/make-pods.ts';
import { fieldManager, podTemplateHashLabel } from '../common/names.ts';
import { controllerOf, controllerReference } from '../common/ownership.ts';
import { contentHash } from '../common/template-hash.ts';
import { copiedAnnotations, revisionAnnotation, revisionHistoryAnnotation, sizeAnnotations } from './annotations.ts';
import { growCurrent } from './rolling-step.ts';
import type { DeploymentScope } from './scope.ts';
import { withDeploymentCondition } from './status.ts';

/** Compares by age, oldest first. */
export function byAge(a: ReplicaSet, b: ReplicaSet): number {
  const [left = '', right = ''] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (left !== right) return left < right ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

/**
 * Finds the ReplicaSet with the Deployment's present template. If several match, the oldest wins, so that every
 * reconcile chooses the same one.
 */
export function findCurrent(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return sets.find((set) => isSameTemplate(set.spec.template, deployment.spec.template));
}

function isSameTemplate(made: PodTemplateSpec | undefined, desired: PodTemplateSpec | undefined): boolean {
  if (!deepEqual(made?.spec, desired?.spec)) return false;
  return deepEqual(withoutHash(made), withoutHash(desired));
}

function withoutHash(template: PodTemplateSpec | undefined): unknown {
  const { labels = {}, ...rest } = template?.metadata ?? {};
  const { [podTemplateHashLabel]: _hash, ...own } = labels;
  return { ...rest, labels: own };
}

/**
 * Parses the revision annotation. Users may write any text, also numbers beyond the range of a double; anything else
 * counts as zero.
 */
export function revisionOf({ metadata }: ReplicaSet | Deployment): bigint {
  const text = metadata.annotations?.[revisionAnnotation] ?? '';
  return /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
}

function later(a: bigint, b: bigint): bigint {
  if (a < b) return b;
  return a;
}

/** Returns a revision above all existing ones. */
function nextRevision(sets: readonly ReplicaSet[]): bigint {
  return sets.reduce((next, set) => later(next, 1n + revisionOf(set)), 1n);
}

/** Updates the revision numbers and annotations of the current ReplicaSet and the Deployment. */
export async function markCurrent(scope: DeploymentScope): Promise<void> {
  const { current, deployment, old, client } = scope;
  if (!current) return;
  const own = revisionOf(current);
  const revision = later(own, nextRevision(old));
  const annotations = current.metadata.annotations ?? {};
  const before = annotations[revisionAnnotation];
  const desired = {
    ...annotations,
    ...copiedAnnotations(deployment),
    [revisionAnnotation]: String(revision),
    ...(before !== undefined && own < revision && { [revisionHistoryAnnotation]: withRevision(annotations, before) }),
  };
  const minReady = deployment.spec.minReadySeconds ?? 0;
  const patch: JsonObject = {};
  const marks = createMergePatch(annotations, desired);
  if (marks) patch['metadata'] = { annotations: marks };
  if (minReady !== (current.spec.minReadySeconds ?? 0)) patch['spec'] = { minReadySeconds: minReady };
  if (marks || patch['spec']) {
    scope.current = await client.patch(ReplicaSets, objectKey(current), 'merge', patch, { fieldManager });
  }
  if (!scope.conditions.some(({ type }) => type === 'Progressing')) {
    const message = `Found new replica set "${current.metadata.name}"`;
    say(scope, 'FoundNewReplicaSet', message);
  }
  await numberDeployment(scope, revision);
}

function withRevision(annotations: Readonly<Record<string, string>>, revision: string): string {
  const history = annotations[revisionHistoryAnnotation];
  return history === undefined ? revision : `${history},${revision}`;
}

async function numberDeployment({ client, deployment }: DeploymentScope, revision: bigint): Promise<void> {
  if (deployment.metadata.annotations?.[revisionAnnotation] === String(revision)) return;
  const patch = { metadata: { annotations: { [revisionAnnotation]: String(revision) } } };
  await client.patch(Deployments, objectKey(deployment), 'merge', patch, { fieldManager });
}

function say(scope: DeploymentScope, reason: string, message: string): void {
  const condition = { type: 'Progressing', status: 'True', reason, message } as const;
  scope.conditions = withDeploymentCondition(scope.conditions, condition, scope.clock.now());
}

/** Creates the ReplicaSet for the present template. Returns false if the namespace is terminating. */
export async function createCurrent(scope: DeploymentScope): Promise<boolean> {
  const { client, deployment, old, events } = scope;
  const replicas = growCurrent(deployment, undefined, old);
  const revision = nextRevision(old);
  for (;;) {
    const hash = contentHash(deployment.spec.template, scope.collisions);
    const desired = replicaSetOf(deployment, hash, replicas, revision);
    try {
      const made = await client.create(ReplicaSets, desired, { fieldManager });
      scope.current = made;
      const name = made.metadata.name;
      if (replicas > 0) {
        events.event(deployment, 'Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${replicas}`);
      }
      say(scope, 'NewReplicaSetCreated', `Created new replica set "${name}"`);
      break;
    } catch (error) {
      if (isNamespaceTerminating(error)) return false;
      if (isAlreadyExists(error)) {
        const taken = await client.get(ReplicaSets, objectKey(desired));
        if (controllerOf(taken)?.uid === deployment.metadata.uid && findCurrent(deployment, [taken])) {
          scope.current = taken;
          break;
        }
        scope.collisions++;
        continue;
      }
      const message = `Failed to create new replica set "${desired.metadata.name}": ${errorMessage(error)}`;
      events.event(deployment, 'Warning', 'ReplicaSetCreateError', message);
      throw error;
    }
  }
  await numberDeployment(scope, revision);
  return true;
}

function replicaSetOf(deployment: Deployment, hash: string, replicas: number, revision: bigint): ReplicaSet {
  const { metadata, spec } = deployment;
  const template = spec.template ?? {};
  const labels = { ...template.metadata?.labels, [podTemplateHashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: must(metadata.namespace, 'metadata.namespace'),
      labels,
      annotations: {
        ...copiedAnnotations(deployment),
        ...sizeAnnotations(deployment),
        [revisionAnnotation]: String(revision),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas,
      ...(spec.minReadySeconds !== undefined && { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, [podTemplateHashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}
