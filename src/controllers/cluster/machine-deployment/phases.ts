import {
  Clusters,
  clusterNameLabel,
  type Machine,
  MachineDeployments,
  type MachineSet,
  MachineSets,
} from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { asJson, ignoreNotFound, labelSelectorFromObject, parseRfc3339 } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  acknowledgedMoveAnnotation,
  controllerOf,
  ensureTemplate,
  fieldManager,
  isDeleting,
  isTrue,
  machineDeploymentFinalizer,
  machineTemplateHashLabel,
  moveMachinesToAnnotation,
  ownerReference,
  receiveMachinesFromAnnotation,
  revisionAnnotation,
  updateInProgressAnnotation,
  withOwner,
  withoutFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { byCluster, clusterIndexValue } from '../common/indexes.ts';
import { rolloutAfter } from '../common/template.ts';
import { desiredSet, setIdentity } from './desired-set.ts';
import { findMovable, machinesOf, receivedBy } from './in-place.ts';
import { findRevisions, nextRevision, type Revisions, revisionOf } from './revisions.ts';
import { rolloutLimits } from './rollout-limits.ts';
import { planPaused, planRollout, type ScalePlan, type SetState } from './rollout-plan.ts';
import type { MachineDeploymentScope } from './scope.ts';

const templateRetryMs = 30_000;

/** Sets the Cluster as owner and the cluster name label. */
export function adoptAndLabel({ deployment, cluster }: MachineDeploymentScope): undefined {
  const { metadata } = deployment;
  if (cluster) metadata.ownerReferences = [...withOwner(metadata.ownerReferences, ownerReference(cluster, Clusters))];
  metadata.labels = { ...metadata.labels, [clusterNameLabel]: deployment.spec.clusterName };
}

export async function checkTemplates(scope: MachineDeploymentScope): Promise<undefined> {
  const { cluster, deployment, context, follower } = scope;
  if (!cluster) return;
  const { bootstrap, infrastructureRef } = deployment.spec.template.spec;
  const missing: string[] = [];
  for (const reference of [bootstrap.configRef, infrastructureRef]) {
    if (reference && !(await ensureTemplate(context, follower, cluster, reference))) missing.push(reference.kind);
  }
  scope.missingTemplates = missing;
}

type Selector = Parameters<typeof labelSelectorFromObject>[0];

/** Adopts matching sets without a controller, for example after a restore from a backup. */
export async function adoptSets(scope: MachineDeploymentScope): Promise<undefined> {
  const { context, deployment } = scope;
  const selector = labelSelectorFromObject(deployment.spec.selector as Selector);
  const inCluster = context.cache
    .lister(MachineSets)
    .byIndex(byCluster, clusterIndexValue(deployment.metadata.namespace, deployment.spec.clusterName));
  for (const set of inCluster) {
    const labels = set.metadata.labels ?? {};
    // a set without the hash label was not created by a deployment
    if (controllerOf(set) || isDeleting(set) || labels[machineTemplateHashLabel] === undefined) continue;
    if (!selector.matches(labels)) continue;
    await recordFinalizer(scope);
    const owner = ownerReference(deployment, MachineDeployments, { controller: true });
    const owners = withOwner(set.metadata.ownerReferences, owner);
    const patch = { metadata: { ownerReferences: asJson(owners) } };
    scope.sets.push(
      await context.client.patch(MachineSets, objectKey(set), 'merge', withOptimisticLock(patch, set), {
        fieldManager,
        signal: context.signal,
      }),
    );
  }
}

/**
 * State of a set with counts taken from the machine cache. While machines move between sets, the counts in its status
 * are unreliable.
 */
function countedStateOf(set: MachineSet, machines: readonly Machine[]): SetState {
  const { current, available, ...state } = stateOf(set);
  const isUpdating = ({ metadata }: Machine): boolean =>
    metadata.annotations?.[updateInProgressAnnotation] !== undefined;
  const well = machines.filter((machine) => isTrue(machine, 'Available') && !isUpdating(machine)).length;
  return { ...state, current: Math.max(current, machines.length), available: Math.min(available, well) };
}

function stateOf(set: MachineSet): SetState {
  return {
    name: set.metadata.name ?? '',
    spec: set.spec.replicas ?? 0,
    current: set.status?.replicas ?? 0,
    available: set.status?.availableReplicas ?? 0,
    createdMs: parseRfc3339(set.metadata.creationTimestamp ?? '') ?? 0,
  };
}

/** Plans the sizes of all sets and applies each set that differs. */
export async function rollOut(scope: MachineDeploymentScope): Promise<Result | undefined> {
  const { deployment, context } = scope;
  if (deployment.spec.replicas === undefined) return undefined;
  const now = context.clock.now();
  const revisions = findRevisions(deployment, scope.sets, now);
  const paused = deployment.spec.paused === true;
  if (!revisions.current && !paused && scope.missingTemplates.length > 0) {
    return after(templateRetryMs, 'templates are missing');
  }
  await writeSets(scope, revisions, paused);
  const due = rolloutAfter(deployment);
  return due !== undefined && due > now ? after(due - now, 'a rollout is due') : undefined;
}

async function writeSets(scope: MachineDeploymentScope, revisions: Revisions, paused: boolean): Promise<void> {
  const { deployment } = scope;
  const { current, old } = revisions;
  const limits = rolloutLimits(deployment);
  const strategy = deployment.spec.rollout?.strategy?.type ?? 'RollingUpdate';
  const revision = paused && !current ? 0 : nextRevision(revisions);
  const identity = current
    ? { name: current.metadata.name ?? '', hash: current.metadata.labels?.[machineTemplateHashLabel] ?? '' }
    : setIdentity(deployment, revision);
  const live = old.filter((set) => !isDeleting(set));
  const template = desiredSet(deployment, {
    ...identity,
    revision,
    replicas: current?.spec.replicas ?? 0,
    disableCreate: false,
    ...(current && { existing: current }),
  });
  const movable = paused ? new Set<string>() : await findMovable(scope, template, live);
  const received = current ? receivedBy(current, machinesOf(scope, current)) : { names: [], uncounted: 0 };
  const isMoving = movable.size > 0 || received.names.length > 0;
  const seen = (set: MachineSet): SetState => (isMoving ? countedStateOf(set, machinesOf(scope, set)) : stateOf(set));
  const size = (current?.spec.replicas ?? 0) + received.uncounted;
  let plan: ScalePlan;
  if (paused)
    plan = planPaused(current && stateOf(current), live.map(stateOf), limits, {
      rolling: strategy === 'RollingUpdate',
    });
  else {
    const state = current
      ? { ...seen(current), spec: size }
      : { name: identity.name, spec: 0, current: 0, available: 0, createdMs: Number.MAX_SAFE_INTEGER };
    plan = planRollout(strategy, state, live.map(seen), limits, { movable: movable.size > 0 });
  }
  if (current || !paused) {
    const { metadata } = deployment;
    const annotations = {
      ...(movable.size > 0 && { [receiveMachinesFromAnnotation]: [...movable].sort().join(',') }),
      ...(received.names.length > 0 && { [acknowledgedMoveAnnotation]: received.names.join(',') }),
    };
    const replicas = plan.get(identity.name) ?? size;
    const desired = { ...identity, revision, replicas, disableCreate: false, annotations };
    metadata.annotations = { ...metadata.annotations, [revisionAnnotation]: String(revision) };
    await applySet(scope, current, desiredSet(deployment, { ...desired, ...(current && { existing: current }) }));
  }
  for (const set of live) {
    const name = set.metadata.name ?? '';
    const desired = desiredSet(deployment, {
      name,
      hash: set.metadata.labels?.[machineTemplateHashLabel] ?? '',
      revision: revisionOf(set),
      replicas: plan.get(name) ?? set.spec.replicas ?? 0,
      disableCreate: strategy === 'OnDelete',
      annotations: movable.has(name) ? { [moveMachinesToAnnotation]: identity.name } : {},
      existing: set,
    });
    await applySet(scope, set, desired);
  }
}

/** Stores the finalizer, with everything else that is known of the metadata, before the deployment gets its first set. */
async function recordFinalizer(scope: MachineDeploymentScope): Promise<void> {
  const { context, deployment, original } = scope;
  if (original.metadata.finalizers?.includes(machineDeploymentFinalizer)) return;
  const { metadata, spec } = deployment;
  const recorded = { ...original, metadata, spec };
  scope.original = await writeObject(context, MachineDeployments, original, recorded, { observed: false });
}

async function applySet(
  scope: MachineDeploymentScope,
  existing: MachineSet | undefined,
  desired: MachineSet,
): Promise<void> {
  await recordFinalizer(scope);
  const { context, applies, deployment, sets } = scope;
  const { client, signal, events } = context;
  const name = desired.metadata.name ?? '';
  if (!existing) {
    const made = await applies.create(client, MachineSets, desired, signal);
    sets.push(made);
    events.event(deployment, 'Normal', 'SuccessfulCreate', `Created MachineSet ${desired.metadata.namespace}/${name}`);
    return;
  }
  const stored = await applies.apply(client, MachineSets, desired, existing, signal);
  sets[sets.indexOf(existing)] = stored;
  const before = existing.spec.replicas ?? 0;
  const now = desired.spec.replicas ?? 0;
  if (before !== now) {
    const text = `Scaled MachineSet ${desired.metadata.namespace}/${name}: ${before} -> ${now}`;
    events.event(deployment, 'Normal', 'SuccessfulScale', text);
  }
}

/** Deletes empty old sets after the rollout; there is no revision history to roll back to. */
export async function cleanUp(scope: MachineDeploymentScope): Promise<undefined> {
  const { deployment, context, sets } = scope;
  const { current, old } = findRevisions(deployment, sets, context.clock.now());
  const wanted = deployment.spec.replicas ?? 0;
  const { replicas, availableReplicas, observedGeneration } = current?.status ?? {};
  const complete =
    replicas === wanted &&
    availableReplicas === wanted &&
    (observedGeneration ?? 0) >= (current?.metadata.generation ?? 0);
  if (!complete || deployment.spec.paused === true) return;
  for (const set of old) {
    const { metadata, spec, status } = set;
    const settled = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    if (isDeleting(set) || !settled || (spec.replicas ?? 0) !== 0 || (status?.replicas ?? 0) !== 0) continue;
    await deleteSet(scope, set);
  }
}

async function deleteSet({ context, deployment }: MachineDeploymentScope, set: MachineSet): Promise<void> {
  const { uid, name } = set.metadata;
  await context.client
    .delete(MachineSets, objectKey(set), {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    })
    .catch(ignoreNotFound);
  context.events.event(deployment, 'Normal', 'SuccessfulDelete', `Deleted MachineSet "${name}"`);
}

/** Deletes all sets, then removes the finalizer of the deployment. */
export async function deleteAll(scope: MachineDeploymentScope): Promise<undefined> {
  const { deployment, sets } = scope;
  for (const set of sets) if (!isDeleting(set)) await deleteSet(scope, set);
  if (sets.length === 0) {
    deployment.metadata.finalizers = withoutFinalizer(deployment.metadata.finalizers, machineDeploymentFinalizer);
  }
}
