import type { ClusterObjects } from '../describe/cluster-objects.ts';
import { type ConditionView, conditionsOf, isBad } from '../describe/conditions.ts';
import {
  type AnyObject,
  argumentOf,
  at,
  type ObjectReference,
  referenceAt,
  referenceKey,
  referenceOf,
  textAt,
} from '../describe/fields.ts';
import { remainsOf } from '../describe/remains.ts';
import { nextAction } from './next-action.ts';

/** The root cause that blocks an object. */
export interface Cause {
  /** `OpenStackMachine/red-md-0-abc` */
  readonly object: string;
  /** condition that shows it, or another short reason */
  readonly reason: string;
  readonly message: string;
  readonly next: string;
  /** start time, if known */
  readonly since?: string;
}

/** Conditions that summarize or follow from others; used only if nothing else is bad. */
const summaries = new Set([
  'Ready',
  'Available',
  'MachinesReady',
  'ControlPlaneMachinesReady',
  'WorkerMachinesReady',
  'WorkersAvailable',
  'ControlPlaneAvailable',
  'ControlPlaneInitialized',
  'Initialized',
  'InfrastructureReady',
  'BootstrapConfigReady',
  'RemoteConnectionProbe',
  'ControlPlaneUpToDate',
]);
/** Conditions of progress, which name no obstacle. */
const progress = new Set([
  'RollingOut',
  'ScalingUp',
  'ScalingDown',
  'Remediating',
  'Updating',
  'Deleting',
  'Paused',
  'UpToDate',
]);
/** Waits for an external component. */
const held = /^WaitingFor(?:PreDrain|PreTerminate)Hook$/;
/** Progress that names its obstacle. */
const blocked = /is blocked because/;
/** Waits for another object, which is checked first. */
const waiting =
  /^(?:\* )?(?:.*: )?(?:[Ww]aiting for|Remote connection not established|Control plane not yet initialized)| waits for |: Condition not yet reported$|^not there yet$/;

/** Waits for a Node, and names what keeps it from appearing. */
const explained = /Waiting for a Node with \S+ \S+ to exist: (.+)/;
/** Objects that only count machines. */
const counting = new Set(['MachineDeployment', 'MachineSet', 'Cluster']);

/** Returns why a cluster is blocked; undefined if it is not. */
export function causeOfCluster(found: ClusterObjects): Cause | undefined {
  const { cluster, missing = [] } = found;
  const paused = causeOfPause(cluster);
  if (paused) return paused;
  if (cluster.metadata.deletionTimestamp !== undefined) return causeOfDeletion(found);
  const [lost] = missing;
  if (lost) return causeOfMissing(lost);
  const order = [
    ...own(cluster, ['TopologyReconciled']),
    ...ofObject(referred(found, cluster, 'infrastructureRef')),
    ...machinesOf(found, { controlPlane: true }).flatMap((machine) => ofMachine(found, machine)),
    ...ofObject(referred(found, cluster, 'controlPlaneRef')),
    ...machinesOf(found, { controlPlane: false }).flatMap((machine) => ofMachine(found, machine)),
    ...found.objects.filter(({ kind }) => kind === 'MachineDeployment' || kind === 'MachineSet').flatMap(ofObject),
    ...found.objects.filter(({ kind }) => kind === 'ClusterAddon').flatMap(ofObject),
    ...ofObject(cluster),
  ];
  const best = bestOf(order);
  return (best && (isWaiting(best) || isCount(best)) ? causeOfBoot(found) : undefined) ?? (best && causeOf(best));
}

/** Names the first machine that starts: the conditions of others wait for it then, or count it as not available. */
function causeOfBoot(found: ClusterObjects): Cause | undefined {
  const isInitialized = at(found.cluster, 'status', 'initialization', 'controlPlaneInitialized') === true;
  const booting = machinesOf(found, { controlPlane: !isInitialized }).find(
    (machine) =>
      at(machine, 'status', 'initialization', 'infrastructureProvisioned') === true &&
      at(machine, 'status', 'nodeRef') === undefined &&
      machine.metadata.deletionTimestamp === undefined,
  );
  if (!booting) return undefined;
  const waits = ofObject(booting).find(({ condition }) => explained.test(condition.message ?? ''));
  const why = explained.exec(waits?.condition.message ?? '')?.[1];
  if (waits && why !== undefined) return causeOf({ ...waits, condition: { ...waits.condition, message: why } });
  return {
    object: nameOf(booting),
    reason: 'WaitingForNode',
    message: 'its server runs, and has not become a Node yet',
    next: 'wait: machines take some minutes; five minutes after the start the console of the server is read, and says what is wrong',
  };
}

/** Returns why a machine is blocked. */
export function causeOfMachine(found: ClusterObjects, name: string): Cause | undefined {
  const machine = found.objects.find(({ kind, metadata }) => kind === 'Machine' && metadata.name === name);
  if (!machine) return undefined;
  return causeOfPause(found.cluster) ?? firstOf(ofMachine(found, machine));
}

/** Returns why one object is blocked; conditions in `harmless` are ignored. */
export function causeOfObject(object: AnyObject, harmless: readonly string[]): Cause | undefined {
  return firstOf(ofObject(object).filter(({ condition }) => !harmless.includes(condition.type)));
}

interface Candidate {
  readonly object: AnyObject;
  readonly condition: ConditionView;
}

// A lost connection follows from the loss of its machines.
const isSummary = ({ condition }: Candidate): boolean =>
  summaries.has(condition.type) || condition.reason === 'ConnectionDown';
const isWaiting = ({ condition }: Candidate): boolean =>
  isWaitingText(condition.message ?? '') && !held.test(condition.reason ?? '');
const isCount = (one: Candidate): boolean => isSummary(one) && counting.has(one.object.kind);
const says = ({ condition }: Candidate): boolean => (condition.message ?? '') !== '';

/** Prefers candidates that do not only wait for others, then those that do not only summarize. */
function bestOf(candidates: readonly Candidate[]): Candidate | undefined {
  return (
    candidates.find((one) => !isSummary(one) && !isWaiting(one)) ??
    candidates.find((one) => isSummary(one) && !isWaiting(one) && says(one)) ??
    candidates.find((one) => !isSummary(one) && says(one) && !/ waits for /.test(one.condition.message ?? '')) ??
    candidates[0]
  );
}

function firstOf(candidates: readonly Candidate[]): Cause | undefined {
  const best = bestOf(candidates);
  return best && causeOf(best);
}

function causeOf({ object, condition }: Candidate): Cause {
  const message = lines(condition.message ?? '').join('; ');
  const reason = condition.reason ?? condition.type;
  return {
    object: nameOf(object),
    reason,
    message: message === '' ? `${condition.type} is ${condition.status}` : message,
    next: nextAction({
      kind: object.kind,
      name: object.metadata.name ?? '',
      argument: argumentOf(object),
      reason,
      message,
    }),
    ...(condition.lastTransitionTime !== undefined && { since: condition.lastTransitionTime }),
  };
}

/** Tells whether every line except headings waits for something. */
function isWaitingText(message: string): boolean {
  const said = lines(message).filter((line) => !line.endsWith(':'));
  return said.length > 0 && said.every((line) => waiting.test(line));
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const nameOf = ({ kind, metadata }: AnyObject): string => `${kind}/${metadata.name ?? ''}`;

/** Returns the bad conditions of an object, specific ones before summaries. */
function ofObject(object: AnyObject | undefined): Candidate[] {
  if (!object) return [];
  return conditionsOf(object, 'modern')
    .filter(
      (condition) =>
        isBad(condition) &&
        (!progress.has(condition.type) || blocked.test(condition.message ?? '') || isHeldBack(object, condition)),
    )
    .sort((a, b) => Number(summaries.has(a.type)) - Number(summaries.has(b.type)))
    .map((condition) => ({ object, condition }));
}

/** A machine being deleted reports what it waits for. */
function isHeldBack({ kind }: AnyObject, { type, message = '' }: ConditionView): boolean {
  return kind === 'Machine' && type === 'Deleting' && message !== '';
}

function own(object: AnyObject, types: readonly string[]): Candidate[] {
  return ofObject(object).filter(({ condition }) => types.includes(condition.type));
}

/** Checks the bootstrap object of a machine, then its server, then the machine itself. */
function ofMachine(found: ClusterObjects, machine: AnyObject): Candidate[] {
  return [
    ...ofObject(referred(found, machine, 'bootstrap', 'configRef')),
    ...ofObject(referred(found, machine, 'infrastructureRef')),
    ...ofObject(machine),
  ];
}

function referred({ objects }: ClusterObjects, from: AnyObject, ...path: readonly string[]): AnyObject | undefined {
  const reference = referenceAt(from, 'spec', ...path);
  const key = reference && referenceKey(reference);
  return objects.find((object) => referenceKey(referenceOf(object)) === key);
}

const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';

/** Oldest first, because others often wait for it. */
function machinesOf({ objects }: ClusterObjects, { controlPlane }: { controlPlane: boolean }): AnyObject[] {
  const age = (object: AnyObject): string => textAt(object, 'metadata', 'creationTimestamp') ?? '';
  return objects
    .filter(
      ({ kind, metadata }) =>
        kind === 'Machine' && (metadata.labels?.[controlPlaneLabel] !== undefined) === controlPlane,
    )
    .sort((a, b) => (age(a) < age(b) ? -1 : 1));
}

function causeOfPause(cluster: AnyObject): Cause | undefined {
  if (at(cluster, 'spec', 'paused') !== true) return undefined;
  return {
    object: nameOf(cluster),
    reason: 'Paused',
    message: 'spec.paused is true: the cluster is not reconciled',
    next: `kubectl patch cluster ${argumentOf(cluster)} --type merge -p '{"spec":{"paused":false}}'`,
  };
}

function causeOfMissing({ group, kind, name }: ObjectReference): Cause {
  return {
    object: `${kind}/${name}`,
    reason: 'Missing',
    message: `it does not exist, but is referred to`,
    next: `create ${kind} ${name} (${group}), or correct the reference`,
  };
}

/** Finalizers of Cluster API, its providers and Kubernetes, which are removed automatically. */
const ownFinalizer =
  /^(?:[a-z0-9.-]*\.)?(?:cluster\.x-k8s\.io|capstan\.dev|openstack\.k-orc\.cloud)(?:\/|$)|^(?:foregroundDeletion|orphan)$/;

/** Returns finalizers of other programs that still block a deletion. */
function foreignFinalizers(object: AnyObject): string[] {
  if (object.metadata.deletionTimestamp === undefined) return [];
  const all = (at(object, 'metadata', 'finalizers') ?? []) as readonly string[];
  return all.some((name) => ownFinalizer.test(name)) ? [] : [...all];
}

function causeOfDeletion(found: ClusterObjects): Cause {
  const { phase, waitingFor, reasons } = remainsOf(found);
  const kept = [found.cluster, ...found.objects].flatMap((object) => {
    const foreign = foreignFinalizers(object);
    return foreign.length === 0 ? [] : [{ object, foreign }];
  })[0];
  if (kept) {
    const { kind } = kept.object;
    return {
      object: nameOf(kept.object),
      reason: 'FinalizerOfAnother',
      message: `the deletion waits only for finalizers of others: ${kept.foreign.join(', ')}`,
      next: `wait for its owner; if it has no owner any more, remove it: kubectl edit ${kind.toLowerCase()} ${argumentOf(kept.object)}`,
    };
  }
  // a machine waits for its infrastructure, which says why
  const said = reasons.find((reason) => !isWaitingText(reason));
  const stuck =
    said === undefined
      ? undefined
      : [found.cluster, ...found.objects].find((one) => said.startsWith(`${nameOf(one)}: `));
  if (said !== undefined && stuck) {
    const message = said.slice(nameOf(stuck).length + 2);
    return {
      object: nameOf(stuck),
      reason: 'Deleting',
      message,
      next: nextAction({
        kind: stuck.kind,
        name: stuck.metadata.name ?? '',
        argument: argumentOf(stuck),
        reason: 'Deleting',
        message,
      }),
    };
  }
  const [reason] = reasons;
  return {
    object: waitingFor[0] ?? nameOf(found.cluster),
    reason: 'Deleting',
    message: reason ?? `the deletion is at its ${phase}: ${waitingFor.join(', ')} still exist`,
    next:
      reason === undefined
        ? 'wait a minute, then check again'
        : 'do what the message says; then the deletion continues',
  };
}
