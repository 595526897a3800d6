import { parseDefragmentRule } from '../../api/index.ts';
import { deepEqual, must } from '../../machinery/index.ts';
import type { EtcdSettings } from '../facts.ts';
import type { DefragmentSpec, EtcdClusterSpec, OwnEtcdSpec } from '../spec.ts';
import { nextEtcdImage } from './images.ts';
import { claimName, initialCluster, memberIndex, memberName, peerUrl } from './members.ts';
import { hasQuorum, judgeRemoval } from './quorum.ts';
import { bootstrapSettings, settledNames } from './settings.ts';
import type { EtcdMember, EtcdObservation, EtcdStep } from './types.ts';

// One step at a time, each decided from what is seen now: after a crash the same step, or the one after it, comes out.

const none: EtcdStep = { kind: 'none' };
const wait = (reason: string, message: string): EtcdStep => ({ kind: 'wait', reason, message });

type StatefulSetFacts = NonNullable<EtcdObservation['set']>;

/** All a decision looks at. */
interface Situation {
  readonly desired: EtcdClusterSpec;
  readonly store: OwnEtcdSpec;
  readonly image: string;
  readonly set: StatefulSetFacts;
  readonly observed: EtcdObservation;
  /** ours, by name: those that never started are known by their address */
  readonly members: ReadonlyMap<string, EtcdMember>;
  readonly all: readonly EtcdMember[];
}

/** The next thing to do for an etcd. Never gives its majority away. */
export function etcdStep(desired: EtcdClusterSpec, observed: EtcdObservation): EtcdStep {
  const { dataStore: store, images } = desired;
  if (store.kind !== 'own-etcd') return none;
  if (images.etcd === undefined) throw new TypeError('a plane with an etcd of its own needs its image');
  const { set } = observed;
  const isAsleep = desired.replicas === 0;
  if (!set) return isAsleep ? none : begin(desired, store, images.etcd, observed);
  if (isAsleep) return fallAsleep(set, observed);
  const awake = highestOf(desired, settledNames(set.settings)) + 1;
  if (set.replicas < awake) return { kind: 'scale', replicas: awake };
  if (!observed.members) return silence(desired, observed);
  const all = observed.members;
  if (!hasQuorum(all)) {
    return wait(
      'EtcdNoQuorum',
      `too few members of etcd are healthy: ${all.filter((m) => m.healthy).length} of ${all.length}`,
    );
  }
  const situation: Situation = {
    desired,
    store,
    image: images.etcd,
    set,
    observed,
    all,
    members: new Map(
      all.flatMap((member) => {
        const name = nameOf(desired, member);
        return name === undefined ? [] : [[name, member]];
      }),
    ),
  };
  for (const decide of decisions) {
    const step = decide(situation);
    if (step) return step;
  }
  return none;
}

/** Those who keep their data in it go first: they would fail again and again without it, and could not finish what they began. */
function fallAsleep(set: StatefulSetFacts, { users = 0 }: EtcdObservation): EtcdStep {
  if (set.replicas === 0) return none;
  if (users === 0) return { kind: 'scale', replicas: 0 };
  return wait('Hibernating', `etcd waits for ${users} Pods of the control plane to be gone`);
}

/** In the order in which matters are settled: what is broken, who is a member, what they run, how tidy their files are. */
const decisions: readonly ((situation: Situation) => EtcdStep | undefined)[] = [
  awaitForming,
  recordSettings,
  removeLost,
  scaleToMembers,
  finishLearner,
  discardClaims,
  addMissing,
  removeExcess,
  restartOutdated,
  stepImage,
  freeSpace,
  defragment,
];

/** There is no StatefulSet: there never was one, or somebody deleted it. */
function begin(desired: EtcdClusterSpec, store: OwnEtcdSpec, image: string, observed: EtcdObservation): EtcdStep {
  const { recorded, claims, restores } = observed;
  if (recorded?.initialClusterState === 'existing') {
    const names = settledNames(recorded);
    // around the volumes that are there everything is as it was; with none of them it would be another, empty one
    if (names.some((name) => recorded.claims[name] !== undefined && recorded.claims[name] === claims.get(name))) {
      return { kind: 'bootstrap', replicas: highestOf(desired, names) + 1, image, settings: recorded };
    }
    if (restores !== true) {
      return wait(
        'EtcdDataLost',
        `the volumes of etcd are gone, with everything the plane knew; restore it from a backup, or delete ConfigMap ${desired.naming.etcdSettings} to begin with an empty cluster`,
      );
    }
  }
  const left = recorded && !isOnOldVolumes(recorded) ? [] : [...claims.keys()];
  if (left.length > 0) {
    // volumes that a plane of this name left: only the members they belong to can answer, others are added when they do
    const settings = { ...bootstrapSettings(desired, left), claims: Object.fromEntries(claims) };
    return { kind: 'bootstrap', replicas: highestOf(desired, left) + 1, image, settings };
  }
  const names = Array.from({ length: store.members }, (_, index) => memberName(desired.naming, index));
  return { kind: 'bootstrap', replicas: store.members, image, settings: bootstrapSettings(desired, names) };
}

/** Members that begin anew have no claims before they have started. */
const isOnOldVolumes = ({ initialClusterState, claims }: EtcdSettings): boolean =>
  initialClusterState === 'new' && Object.keys(claims).length > 0;

/** Nobody answers: the first start, or all are down. */
function silence({ naming }: EtcdClusterSpec, { pods, set }: EtcdObservation): EtcdStep {
  const lost = pods.filter(({ dataLost }) => dataLost);
  if (lost.length > 0 && set?.settings.initialClusterState === 'existing') {
    return wait(
      'EtcdDataLost',
      `etcd does not answer and ${lost.map(({ name }) => name).join(', ')} lost its data; if it does not come back, restore the plane from a backup and delete StatefulSet ${naming.etcd} for it`,
    );
  }
  const state = `${pods.filter(({ ready }) => ready).length} of ${pods.length} Pods are ready`;
  if (set && isOnOldVolumes(set.settings)) {
    const old = Object.keys(set.settings.claims).map((name) => claimName(naming, name));
    return wait(
      'EtcdNotAnswering',
      `etcd does not answer yet on the volumes that a plane of this name left: ${state}; to begin with an empty cluster delete PersistentVolumeClaims ${old.join(', ')} and StatefulSet ${naming.etcd}`,
    );
  }
  return wait('EtcdNotAnswering', `etcd does not answer yet: ${state}`);
}

/** Members that begin together must all read the same: nothing changes until all of them are there. */
function awaitForming({ set, store, observed, members, all }: Situation): EtcdStep | undefined {
  const expected = settledNames(set.settings).length;
  if (set.settings.initialClusterState === 'existing' || store.members !== expected) return undefined;
  if (observed.pods.some(({ dataLost }) => dataLost)) return undefined;
  const present = all.filter(({ healthy }) => healthy).length;
  return present === expected && members.size === expected
    ? undefined
    : wait('EtcdForming', `${present} of ${expected} members of etcd have started`);
}

/** Members whose data is gone can never come back as who they were. */
function removeLost(situation: Situation): EtcdStep | undefined {
  const { members, all } = situation;
  for (const [name, member] of members) {
    if (!hasLostData(situation, name, member)) continue;
    const judgement = judgeRemoval(withoutStarting(all, member), member.id);
    if (!judgement.safe)
      return wait('EtcdMemberLost', `${name} lost its data and cannot be replaced yet: ${judgement.problem}`);
    return { kind: 'remove', id: member.id, name };
  }
  return undefined;
}

function hasLostData({ observed, set }: Situation, name: string, member: EtcdMember): boolean {
  // one that has not started since it was added has no data to lose; what its Pod says is about its predecessor
  if (member.name === '' || member.healthy) return false;
  if (saysDataLost(observed, name)) return true;
  const recorded = set.settings.claims[name];
  const present = observed.claims.get(name);
  return recorded !== undefined && present !== undefined && present !== recorded;
}

/** What a member that starts reads must be true before it starts. */
function recordSettings(situation: Situation): EtcdStep | undefined {
  const { set } = situation;
  const settings = wantedSettings(situation);
  return deepEqual(settings, set.settings) ? undefined : { kind: 'settings', settings };
}

function wantedSettings({ desired, set, members, observed }: Situation): EtcdSettings {
  const { settings } = set;
  const claims: Record<string, string> = {};
  const discard: Record<string, string> = {};
  for (const [name, member] of members) {
    const present = observed.claims.get(name);
    const used = member.healthy && present !== undefined ? present : settings.claims[name];
    // one that was lost before anything was recorded leaves a claim that was used all the same
    const recorded = used ?? (saysDataLost(observed, name) ? present : undefined);
    if (recorded !== undefined && member.name !== '') claims[name] = recorded;
  }
  for (const name of [...Object.keys(settings.claims), ...Object.keys(settings.discard)]) {
    const present = observed.claims.get(name);
    if (members.has(name) || present === undefined) continue;
    const wasMember = settings.claims[name] !== undefined;
    if (wasMember || settings.discard[name] === present) discard[name] = present;
  }
  return {
    initialCluster: initialCluster(desired, sortedNames(desired, members)),
    initialClusterState: 'existing',
    claims,
    discard,
  };
}

const saysDataLost = ({ pods }: EtcdObservation, name: string): boolean =>
  pods.some((pod) => pod.name === name && pod.dataLost);

/** As many Pods as the last member needs; Pods of members that left go. */
function scaleToMembers({ desired, set, members }: Situation): EtcdStep | undefined {
  const needed = highestOf(desired, members.keys()) + 1;
  return needed === set.replicas || needed === 0 ? undefined : { kind: 'scale', replicas: needed };
}

function finishLearner(situation: Situation): EtcdStep | undefined {
  const { members, observed, store, desired } = situation;
  for (const [name, member] of members) {
    if (!member.isLearner) continue;
    if ((memberIndex(desired.naming, name) ?? 0) >= store.members) return { kind: 'remove', id: member.id, name };
    if (member.healthy && member.inSync) return { kind: 'promote', id: member.id, name };
    const pod = observed.pods.find((one) => one.name === name);
    const claim = observed.claims.get(name);
    // a learner has nothing that others do not have, and with what it finds there it would never start
    if (pod?.dataOutlived && !pod.terminating && claim !== undefined) return { kind: 'delete-claim', name, uid: claim };
    // it failed while it was no member, and would wait long before it tries again
    if ((pod?.dataLost || pod?.wasRefused) && !pod.terminating) return { kind: 'restart', name };
    return wait('EtcdMemberStarting', `${name} is catching up with the other members of etcd`);
  }
  return undefined;
}

/** Data of a member that left would keep a new one of its name from starting. */
function discardClaims({ set, observed, desired, store }: Situation): EtcdStep | undefined {
  for (const [name, uid] of Object.entries(set.settings.discard)) {
    // kept for as long as nobody needs the name: it was the user's volume
    if ((memberIndex(desired.naming, name) ?? store.members) >= store.members) continue;
    if (observed.claims.get(name) === uid) return { kind: 'delete-claim', name, uid };
  }
  return undefined;
}

function addMissing({ desired, store, members }: Situation): EtcdStep | undefined {
  for (let index = 0; index < store.members; index++) {
    const name = memberName(desired.naming, index);
    if (!members.has(name)) return { kind: 'add-learner', name, peerUrl: peerUrl(desired, name) };
  }
  return undefined;
}

function removeExcess({ desired, store, members, all }: Situation): EtcdStep | undefined {
  const name = sortedNames(desired, members).at(-1);
  if (name === undefined || (memberIndex(desired.naming, name) ?? 0) < store.members) return undefined;
  const member = must(members.get(name), 'the last member');
  const judgement = judgeRemoval(all, member.id);
  if (!judgement.safe) return wait('EtcdScalingDown', `${name} cannot leave etcd yet: ${judgement.problem}`);
  return withoutLeadership(all, member) ?? { kind: 'remove', id: member.id, name };
}

/** Pods that run something older than the StatefulSet says, one after the other and the leader's last. */
function restartOutdated({ observed, members, all }: Situation): EtcdStep | undefined {
  const outdated = observed.pods.filter(({ upToDate }) => !upToDate);
  const [first] = outdated;
  if (first === undefined) return undefined;
  if (observed.pods.some(({ terminating }) => terminating))
    return wait('EtcdRolling', 'a member of etcd is being restarted');
  const down = outdated.find(({ name }) => members.get(name)?.healthy === false);
  if (down) return { kind: 'restart', name: down.name };
  const ill = all.find(({ healthy }) => !healthy);
  if (ill) return wait('EtcdRolling', `${ill.name} must be healthy before the next member of etcd is restarted`);
  const pod = outdated.find(({ name }) => members.get(name)?.isLeader !== true) ?? first;
  const member = members.get(pod.name);
  return (member && withoutLeadership(all, member)) ?? { kind: 'restart', name: pod.name };
}

function stepImage({ set, image, all }: Situation): EtcdStep | undefined {
  if (set.image === image) return undefined;
  const ill = all.find(({ healthy }) => !healthy);
  if (ill) return wait('EtcdUpgrading', `${ill.name} must be healthy before etcd gets another image`);
  const next = nextEtcdImage(set.image, image);
  if ('problem' in next) return wait('EtcdImageRefused', next.problem);
  return next.image === set.image ? undefined : { kind: 'image', image: next.image };
}

const spaceShare = 0.1;

/** An etcd without space refuses writes until its files are made smaller and the alarm is taken back. */
function freeSpace({ all, observed }: Situation): EtcdStep | undefined {
  const alarmed = all.filter(({ alarms }) => alarms.includes('NOSPACE'));
  const fragmented = followersFirst(alarmed).find((member) => freeShare(member) >= spaceShare);
  if (fragmented) return { kind: 'defragment', id: fragmented.id, name: fragmented.name };
  for (const member of alarmed) {
    const { quotaBytes } = observed;
    if (quotaBytes !== undefined && (member.dbSize ?? 0) < quotaBytes * (1 - spaceShare)) {
      return { kind: 'disarm', id: member.id, alarm: 'NOSPACE' };
    }
  }
  return alarmed.length === 0
    ? undefined
    : wait('EtcdNoSpace', 'etcd is full: enlarge its volume, or delete objects of the workload cluster');
}

const defaultFragmentation = 0.2;

/** Each member stands still meanwhile: one at a time, the leader last, and only while all others are there. */
function defragment({ store, observed, all }: Situation): EtcdStep | undefined {
  if (!observed.defragmentDue || !all.every(({ healthy }) => healthy)) return undefined;
  const isWorthIt = worthOf(store.defragment, observed.quotaBytes);
  const member = followersFirst(all).find((one) => !observed.tidied?.has(one.name) && isWorthIt(one));
  return member && { kind: 'defragment', id: member.id, name: member.name };
}

function worthOf(
  { fragmentation = defaultFragmentation, rule }: DefragmentSpec = {},
  dbQuota: number | undefined,
): (member: EtcdMember) => boolean {
  const parsed = rule === undefined ? undefined : parseDefragmentRule(rule);
  if (parsed === undefined) return (member) => freeShare(member) >= fragmentation;
  // one that nobody can read was refused before; nothing stands still for it
  if (typeof parsed !== 'function') return () => false;
  return ({ dbSize = 0, dbSizeInUse = dbSize }) =>
    parsed({
      dbSize,
      dbSizeInUse,
      dbSizeFree: dbSize - dbSizeInUse,
      dbQuota: dbQuota ?? 0,
      dbQuotaUsage: dbQuota ? dbSize / dbQuota : 0,
    });
}

const freeShare = ({ dbSize = 0, dbSizeInUse = dbSize }: EtcdMember): number =>
  dbSize === 0 ? 0 : (dbSize - dbSizeInUse) / dbSize;

const followersFirst = (members: readonly EtcdMember[]): EtcdMember[] => [
  ...members.filter(({ isLeader }) => !isLeader),
  ...members.filter(({ isLeader }) => isLeader),
];

/** A leader that hands over first costs its clients nothing. */
function withoutLeadership(all: readonly EtcdMember[], member: EtcdMember): EtcdStep | undefined {
  if (!member.isLeader) return undefined;
  const heir = all.find((other) => other !== member && other.healthy && !other.isLearner);
  return heir && { kind: 'move-leader', from: member.id, to: heir.id };
}

/** A lost member is itself one that has not been seen healthy: it must not count as one that is just starting. */
const withoutStarting = (all: readonly EtcdMember[], leaving: EtcdMember): EtcdMember[] =>
  all.filter((member) => member === leaving || (!member.isLearner && member.name !== ''));

function nameOf(desired: EtcdClusterSpec, { name, peerUrls }: EtcdMember): string | undefined {
  if (name !== '') return memberIndex(desired.naming, name) === undefined ? undefined : name;
  const host = /^https?:\/\/([^.:/]+)/.exec(peerUrls[0] ?? '')?.[1];
  return host !== undefined && memberIndex(desired.naming, host) !== undefined ? host : undefined;
}

function sortedNames({ naming }: EtcdClusterSpec, members: ReadonlyMap<string, EtcdMember>): string[] {
  return [...members.keys()].sort((a, b) => (memberIndex(naming, a) ?? 0) - (memberIndex(naming, b) ?? 0));
}

function highestOf({ naming }: EtcdClusterSpec, names: Iterable<string>): number {
  let highest = -1;
  for (const name of names) highest = Math.max(highest, memberIndex(naming, name) ?? -1);
  return highest;
}
