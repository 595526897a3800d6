import { CronJobs, PersistentVolumeClaims, Pods } from '../../../../api/index.ts';
import {
  claimName,
  type EtcdClusterSpec,
  type EtcdSetFacts,
  type EtcdStep,
  etcdStep,
  hasQuorum,
  quotaBytes,
} from '../../../../hosting/index.ts';
import { isNotFound, type KubeObject, parseQuantity } from '../../../../machinery/index.ts';
import { after, done, type ReconcileContext, type Result } from '../../../../runtime/index.ts';
import type { Verdict } from '../../../shared/index.ts';
import type { EtcdAdministrator } from '../../etcd-client/types.ts';
import { type ApplyOptions, applyObjects, PlaneObjectError } from '../apply-objects.ts';
import { replaceSet } from '../replace-set.ts';
import type { EtcdReport } from '../types.ts';
import { type OpenPlaneEtcd, type PlaneEtcdTarget, unreachable } from './connect.ts';
import { askEtcd, type EtcdAnswers, type EtcdSight, etcdObservation, seeEtcd } from './observe.ts';
import { reportOf, unboundClaim, verdictOf } from './report.ts';
import { requeueDelayMs } from './requeue-delay.ts';

/** Limit of steps per reconcile, so that others get their turn. */
const maxSteps = 12;
/** Poll interval of healthy members: alarms and fragmentation cause no events. */
const calmMs = 5 * 60_000;
const defragmentEveryMs = 60 * 60_000;
/** Duration of a defragmentation round, with one member per reconcile. */
export const defragmentRoundMs: number = 10 * 60_000;
/** etcd's default quota. */
const defaultQuotaBytes = 2 * 1024 ** 3;

/** Memory of an etcd between reconciles. It saves requests only; no decision depends on it. */
export interface EtcdMemory {
  calm?: { readonly at: number; readonly fingerprint: string; readonly answers: EtcdAnswers };
  uneasySince?: number;
  /** members defragmented in this round; a member whose file stays large is not defragmented again */
  tidied?: Set<string>;
  /** when a schedule was last due and no member needed defragmentation */
  spared?: number;
}

export interface EtcdScope {
  readonly context: ReconcileContext;
  readonly desired: EtcdClusterSpec;
  readonly apply: ApplyOptions;
  readonly memory: EtcdMemory;
  /** builds the etcd objects for the given membership, settings first */
  objects(facts: EtcdSetFacts): readonly KubeObject[];
  readonly open: OpenPlaneEtcd;
  /** undefined until the certificates exist */
  readonly targetOf: ((member: string) => PlaneEtcdTarget) | undefined;
  readonly lastDefragmentedMs: number | undefined;
  /** due by schedule; without a schedule, fragmentation decides */
  readonly defragmentDue: boolean;
  /** a restore is pending, so lost members may be recreated empty */
  readonly restores: boolean;
  /** number of Pods that store data in it */
  readonly users: number;
}

export interface EtcdOutcome {
  readonly verdict: Verdict;
  readonly report: EtcdReport;
  /** a quorum of members answers, so API servers can use it */
  readonly isServing: boolean;
  /** nothing left to do */
  readonly isSettled: boolean;
  readonly result: Result;
  /** a member was defragmented in this reconcile */
  readonly defragmented: boolean;
}

/** Takes one or more steps towards the desired state of an etcd. */
export async function driveEtcd(scope: EtcdScope): Promise<EtcdOutcome> {
  const { context, desired, memory } = scope;
  const sight = seeEtcd(context.cache, desired);
  let facts = sight.facts;
  let answers = await ask(scope, sight);
  let step: EtcdStep = { kind: 'none' };
  let defragmented = false;
  let isRecorded = !sight.isFromOthers;
  const defragmentDue = isDefragmentDue(scope);
  for (let taken = 0; taken < maxSteps; taken++) {
    const { tidied } = memory;
    const { restores, users } = scope;
    const more = { defragmentDue, quotaBytes: quotaOf(desired), restores, users, ...(tidied && { tidied }) };
    step = etcdStep(desired, etcdObservation({ ...sight, facts }, answers, more));
    if (step.kind === 'none' || step.kind === 'wait') break;
    // members of another program get settings and a StatefulSet of ours before anything else changes
    if (sight.isFromOthers && step.kind !== 'settings') break;
    context.log.info('Etcd takes a step', { etcd: desired.naming.etcd, step: step.kind });
    facts = factsAfter(facts, step);
    const continues = await carryOut(scope, step, sight, facts);
    isRecorded ||= step.kind === 'settings';
    if (step.kind === 'defragment') {
      defragmented = true;
      memory.tidied = (memory.tidied ?? new Set()).add(step.name);
    }
    if (!continues) break;
    if (step.kind !== 'settings') answers = await askAnew(scope, sight);
  }
  if (sight.isFromOthers && isRecorded) await removeForeignJob(scope);
  // also corrects drift and updates certificate checksums
  if (facts && isRecorded && (sight.isFromOthers || !endsPass(step))) await applySet(scope, sight, facts);
  const isSettled = step.kind === 'none' && !sight.isFromOthers;
  remember(scope, sight, answers, isSettled);
  return outcome(scope, sight, answers, step, { isSettled, defragmented, memory });
}

/** Returns the facts for the objects after a step that changes them. */
function factsAfter(facts: EtcdSetFacts | undefined, step: EtcdStep): EtcdSetFacts | undefined {
  if (step.kind === 'bootstrap') return { replicas: step.replicas, image: step.image, settings: step.settings };
  if (!facts) return facts;
  if (step.kind === 'settings') return { ...facts, settings: step.settings };
  if (step.kind === 'scale') return { ...facts, replicas: step.replicas };
  if (step.kind === 'image') return { ...facts, image: step.image, settings: { ...facts.settings, image: step.image } };
  return facts;
}

const endsPass = ({ kind }: EtcdStep): boolean => kind === 'bootstrap' || kind === 'scale' || kind === 'image';

/** Carries out a step. Returns whether another may follow in this reconcile; changed objects cause events instead. */
async function carryOut(
  scope: EtcdScope,
  step: EtcdStep,
  sight: EtcdSight,
  facts: EtcdSetFacts | undefined,
): Promise<boolean> {
  const { context, desired } = scope;
  const { client, signal } = context;
  const { namespace } = desired.identity;
  switch (step.kind) {
    case 'bootstrap':
    case 'scale':
    case 'image':
      if (facts) await applySet(scope, sight, facts);
      return false;
    case 'settings':
      // starting members read the settings, so these are written first
      if (facts) await applyObjects(scope.apply, settingsOnly(scope, facts));
      return true;
    case 'restart':
      await ignoringAbsence(client.delete(Pods, { namespace, name: step.name }, { signal }));
      return false;
    case 'delete-claim': {
      const key = { namespace, name: claimName(desired.naming, step.name) };
      await ignoringAbsence(client.delete(PersistentVolumeClaims, key, { signal, preconditions: { uid: step.uid } }));
      await ignoringAbsence(client.delete(Pods, { namespace, name: step.name }, { signal }));
      return false;
    }
    case 'add-learner':
      await withMember(scope, sight, '', (member) => member.addLearner([step.peerUrl], signal));
      return true;
    case 'promote':
      await withMember(scope, sight, '', (member) => member.promoteMember(step.id, signal));
      return true;
    case 'remove':
      await withMember(scope, sight, step.name, (member) => member.removeMember(step.id, signal));
      return true;
    case 'move-leader':
      await withLeader(scope, sight, step.from, (member) => member.moveLeader(step.to, signal));
      return true;
    case 'defragment':
      // defragmentation may take long; requeue before the next member
      await withNamed(scope, step.name, (member) => member.defragment(signal));
      return false;
    case 'disarm':
      await withMember(scope, sight, '', (member) => member.disarm({ memberId: step.id, type: step.alarm }, signal));
      return true;
    default:
      return false;
  }
}

const settingsOnly = (scope: EtcdScope, facts: EtcdSetFacts): KubeObject[] =>
  scope
    .objects(facts)
    .filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === scope.desired.naming.etcdSettings);

async function ignoringAbsence(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/**
 * Applies the etcd objects. Changes of immutable StatefulSet fields, mostly the volume size, recreate the StatefulSet
 * and orphan its Pods.
 */
async function applySet(scope: EtcdScope, sight: EtcdSight, facts: EtcdSetFacts): Promise<void> {
  await labelMembers(scope, sight);
  try {
    await applyObjects(scope.apply, scope.objects(facts));
  } catch (error) {
    if (error instanceof PlaneObjectError && error.isImmutable) await growClaims(scope, error.object, sight);
    if (!(await replaceSet(scope.context, scope.desired.identity.owner, error))) throw error;
  }
}

/** Deletes the job of another program that defragments; here controllers do that. */
async function removeForeignJob({ context, desired }: EtcdScope): Promise<void> {
  const { client, cache, signal } = context;
  const { namespace, owner } = desired.identity;
  const name = desired.naming.defragmentJob;
  const job = name === undefined ? undefined : cache.lister(CronJobs).get({ namespace, name });
  if (!job?.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid)) return;
  const key = { namespace, name: job.metadata.name ?? '' };
  await ignoringAbsence(client.delete(CronJobs, key, { propagationPolicy: 'Background', signal }));
}

/**
 * Relabels members and claims of an earlier version. This comes before anything uses the new selectors, so that
 * Services keep finding the members and a recreated StatefulSet adopts them.
 */
async function labelMembers({ context, desired }: EtcdScope, sight: EtcdSight): Promise<void> {
  if (!desired.naming.formerSelectors) return;
  const { client, cache, signal } = context;
  const { namespace } = desired.identity;
  const labels = desired.naming.selector('etcd');
  const isMissing = ({ metadata }: KubeObject): boolean =>
    Object.entries(labels).some(([name, value]) => metadata.labels?.[name] !== value);
  const options = { fieldManager: desired.naming.fieldManager, signal };
  const patch = { metadata: { labels: { ...labels } } };
  for (const { pod, isTerminating } of sight.set?.pods ?? []) {
    if (isTerminating || !isMissing(pod)) continue;
    await ignoringAbsence(client.patch(Pods, { namespace, name: pod.metadata.name ?? '' }, 'merge', patch, options));
  }
  for (const member of sight.claims.keys()) {
    const key = { namespace, name: claimName(desired.naming, member) };
    const claim = cache.lister(PersistentVolumeClaims).get(key);
    if (!claim || !isMissing(claim)) continue;
    await ignoringAbsence(client.patch(PersistentVolumeClaims, key, 'merge', patch, options));
  }
}

/** Enlarges volumes; they never shrink. The StorageClass may refuse, which is reported. */
async function growClaims({ context, desired }: EtcdScope, set: KubeObject, sight: EtcdSight): Promise<void> {
  const templates = (
    set as { spec?: { volumeClaimTemplates?: { spec?: { resources?: { requests?: { storage?: string } } } }[] } }
  ).spec?.volumeClaimTemplates;
  const wanted = templates?.[0]?.spec?.resources?.requests?.storage;
  if (wanted === undefined) return;
  const { client, cache, signal } = context;
  const { namespace } = desired.identity;
  for (const member of sight.claims.keys()) {
    const key = { namespace, name: claimName(desired.naming, member) };
    const present = cache.lister(PersistentVolumeClaims).get(key)?.spec?.resources?.requests?.['storage'];
    if ((parseQuantity(present)?.nanos ?? 0n) >= (parseQuantity(wanted)?.nanos ?? 0n)) continue;
    const patch = { spec: { resources: { requests: { storage: wanted } } } };
    await client.patch(PersistentVolumeClaims, key, 'merge', patch, {
      fieldManager: desired.naming.fieldManager,
      signal,
    });
  }
}

function fingerprint({ set, pods, claims }: EtcdSight, desired: EtcdClusterSpec): string {
  const store = desired.dataStore.kind === 'own-etcd' ? desired.dataStore.members : 0;
  const seen = pods.map(({ name, ready, upToDate, terminating, dataLost, wasRefused }) => [
    name,
    ready,
    upToDate,
    terminating,
    dataLost,
    wasRefused,
  ]);
  return JSON.stringify([
    set?.set.metadata.generation,
    seen,
    [...claims],
    store,
    desired.images.etcd,
    desired.replicas,
  ]);
}

async function ask(scope: EtcdScope, sight: EtcdSight): Promise<EtcdAnswers> {
  const { calm } = scope.memory;
  const isCalm =
    calm !== undefined &&
    !scope.defragmentDue &&
    scope.context.clock.now() - calm.at < calmMs &&
    calm.fingerprint === fingerprint(sight, scope.desired);
  return isCalm ? calm.answers : await askAnew(scope, sight);
}

async function askAnew(scope: EtcdScope, sight: EtcdSight): Promise<EtcdAnswers> {
  const { targetOf, open, context, desired } = scope;
  // for a hibernating etcd it only matters whether its Pods are gone
  if (!targetOf || desired.replicas === 0 || sight.running.length === 0) return { members: undefined, problems: [] };
  return await askEtcd(open, targetOf, sight.running, context.signal);
}

function remember(scope: EtcdScope, sight: EtcdSight, answers: EtcdAnswers, isSettled: boolean): void {
  const { memory, context } = scope;
  if (!isSettled) {
    delete memory.calm;
    memory.uneasySince ??= context.clock.now();
    return;
  }
  delete memory.uneasySince;
  const print = fingerprint(sight, scope.desired);
  if (memory.calm?.fingerprint === print && memory.calm.answers === answers) return;
  memory.calm = { at: context.clock.now(), fingerprint: print, answers };
}

function isDefragmentDue(scope: EtcdScope): boolean {
  const { dataStore } = scope.desired;
  if (dataStore.kind !== 'own-etcd' || !dataStore.defragment) return false;
  const since = scope.context.clock.now() - (scope.lastDefragmentedMs ?? 0);
  if (since < defragmentRoundMs) return true;
  delete scope.memory.tidied;
  return dataStore.defragment.schedule === undefined ? since >= defragmentEveryMs : scope.defragmentDue;
}

function quotaOf(desired: EtcdClusterSpec): number {
  const { dataStore } = desired;
  return (dataStore.kind === 'own-etcd' ? quotaBytes(desired, dataStore) : undefined) ?? defaultQuotaBytes;
}

/** Runs a function with the first reachable member other than the named one. */
async function withMember<T>(
  scope: EtcdScope,
  sight: EtcdSight,
  exceptName: string,
  work: (client: EtcdAdministrator) => Promise<T>,
): Promise<T> {
  return await firstOf(
    scope,
    sight.running.filter((name) => name !== exceptName),
    () => true,
    work,
  );
}

async function withLeader<T>(
  scope: EtcdScope,
  sight: EtcdSight,
  id: string,
  work: (client: EtcdAdministrator) => Promise<T>,
): Promise<T> {
  return await firstOf(scope, sight.running, ({ memberId }) => memberId === id, work);
}

const withNamed = <T>(scope: EtcdScope, name: string, work: (client: EtcdAdministrator) => Promise<T>): Promise<T> =>
  firstOf(scope, [name], () => true, work);

async function firstOf<T>(
  scope: EtcdScope,
  names: readonly string[],
  fits: (status: { memberId: string; isLearner: boolean }) => boolean,
  work: (client: EtcdAdministrator) => Promise<T>,
): Promise<T> {
  const { context, open, targetOf } = scope;
  const problems: string[] = [];
  for (const name of names) {
    if (!targetOf) break;
    let client: EtcdAdministrator;
    try {
      client = await open(targetOf(name), context.signal);
    } catch (error) {
      if (context.signal.aborted) throw error;
      problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      continue;
    }
    try {
      const status = await client.status(context.signal);
      if (!fits(status) || (names.length > 1 && (status.isLearner || status.leaderId === '0'))) continue;
      return await work(client);
    } finally {
      client.close();
    }
  }
  throw unreachable(problems);
}

function outcome(
  scope: EtcdScope,
  sight: EtcdSight,
  answers: EtcdAnswers,
  step: EtcdStep,
  { isSettled, defragmented, memory }: { isSettled: boolean; defragmented: boolean; memory: EtcdMemory },
): EtcdOutcome {
  const { desired, context } = scope;
  const members = answers.members ?? [];
  const wanted = desired.dataStore.kind === 'own-etcd' ? desired.dataStore.members : 0;
  const isAsleep = desired.replicas === 0;
  const isServing = answers.members !== undefined && hasQuorum(members);
  const isRunning = isSettled && !isAsleep && (sight.set?.isRolledOut ?? false);
  const uneasyFor = context.clock.now() - (memory.uneasySince ?? context.clock.now());
  return {
    isServing,
    isSettled: isSettled && (isAsleep || isRunning),
    defragmented,
    report: reportOf(scope, sight, members, isServing),
    verdict: verdictOf({ step, sight, answers, isRunning, isAsleep, wanted, unbound: unboundClaim(scope) }),
    result: nextRequeue(isSettled, isAsleep, requeueDelayMs(uneasyFor, { isAnyRunning: sight.running.length > 0 })),
  };
}

function nextRequeue(isSettled: boolean, isAsleep: boolean, soonMs: number): Result {
  if (isAsleep) return isSettled ? done() : after(calmMs, 'Pods that still have to go, which wake us');
  return isSettled ? after(calmMs, 'next look at etcd') : after(soonMs, 'etcd is on its way');
}
