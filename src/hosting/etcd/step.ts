import { parseDefragmentRule } from '../../api/index.ts';
import { deepEqual, must } from '../../machinery/index.ts';
import type { EtcdSettings } from '../facts.ts';
import type { DefragmentSpec, EtcdClusterSpec, OwnEtcdSpec } from '../spec.ts';
import { nextEtcdImage } from './images.ts';
import { claimName, initialCluster, memberIndex, memberName, peerUrl } from './members.ts';
import { hasQuorum, judgeRemoval } from './quorum.ts';
import { bootstrapSettings, settledNames } from './settings.ts';
import type { EtcdMember, EtcdObservation, EtcdStep } from './types.ts';

// Decides one step at a time from the observed state alone, so a crash leads to the same or the following step.

const none: EtcdStep = { kind: 'none' };
const wait = (reason: string, message: string): EtcdStep => ({ kind: 'wait', reason, message });

type StatefulSetFacts = NonNullable<EtcdObservation['set']>;

/** Inputs of a decision. */
interface Situation {
  readonly desired: EtcdClusterSpec;
  readonly store: OwnEtcdSpec;
  readonly image: string;
  readonly set: StatefulSetFacts;
  readonly observed: EtcdObservation;
  /** own members by name; unstarted ones are identified by address */
  readonly members: ReadonlyMap<string, EtcdMember>;
  readonly all: readonly EtcdMember[];
}

/** Computes the next step of an etcd. Never gives up quorum. */
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

/** Hibernates etcd after its users, which would fail without it and could not finish their work. */
function fallAsleep(set: StatefulSetFacts, { users = 0 }: EtcdObservation): EtcdStep {
  if (set.replicas === 0) return none;
  if (users === 0) return { kind: 'scale', replicas: 0 };
  return wait('Hibernating', `etcd waits for ${users} Pods of the control plane to be gone`);
}

/** In order of priority: broken members, membership, versions, fragmentation. */
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

/** Creates the StatefulSet: it never existed or was deleted. */
function begin(desired: EtcdClusterSpec, store: OwnEtcdSpec, image: string, observed: EtcdObservation): EtcdStep {
  const { recorded, claims, restores } = observed;
  if (recorded?.initialClusterState === 'existing') {
    const names = settledNames(recorded);
    // with existing volumes everything continues as before; without any, it would be a new, empty etcd
    if (names.some((name) => recorded.claims[name] !== undefined && recorded.claims[name] === claims.get(name))) {
      const known = recorded.image ?? image;
      return { kind: 'bootstrap', replicas: highestOf(desired, names) + 1, image: known, settings: recorded };
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
    // volumes of an earlier plane with this name: start the members they belong to, add the others afterwards
    const settings = { ...bootstrapSettings(desired, left), claims: Object.fromEntries(claims) };
    return { kind: 'bootstrap', replicas: highestOf(desired, left) + 1, image, settings };
  }
  const names = Array.from({ length: store.members }, (_, index) => memberName(desired.naming, index));
  return { kind: 'bootstrap', replicas: store.members, image, settings: bootstrapSettings(desired, names) };
}

/** Bootstrapping members have no claims before their start. */
const isOnOldVolumes = ({ initialClusterState, claims }: EtcdSettings): boolean =>
  initialClusterState === 'new' && Object.keys(claims).length > 0;

/** No member answers: the first start, or all are down. */
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

/** Waits until all bootstrapping members are there: they must read the same settings, so nothing changes before. */
function awaitForming({ set, store, observed, members, all }: Situation): EtcdStep | undefined {
  const expected = settledNames(set.settings).length;
  if (set.settings.initialClusterState === 'existing' || store.members !== expected) return undefined;
  if (observed.pods.some(({ dataLost }) => dataLost)) return undefined;
  const present = all.filter(({ healthy }) => healthy).length;
  return present === expected && members.size === expected
    ? undefined
    : wait('EtcdForming', `${present} of ${expected} members of etcd have started`);
}

/** Removes members whose data is gone; they can never rejoin with their old identity. */
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
  // a member not started since it was added has no data; its Pod's message concerns the predecessor
  if (member.name === '' || member.healthy) return false;
  if (saysDataLost(observed, name)) return true;
  const recorded = set.settings.claims[name];
  const present = observed.claims.get(name);
  return recorded !== undefined && present !== undefined && present !== recorded;
}

/** Writes the settings before a member that reads them starts. */
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
    // the claim of a member lost before anything was recorded was still used
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
    // members of other programs may have registered under other names of the same address
    initialCluster: initialCluster(desired, sortedNames(desired, members), (name) => members.get(name)?.peerUrls[0]),
    initialClusterState: 'existing',
    claims,
    discard,
    image: set.image,
  };
}

const saysDataLost = ({ pods }: EtcdObservation, name: string): boolean =>
  pods.some((pod) => pod.name === name && pod.dataLost);

/** Scales to the Pods that the members need; Pods of removed members are deleted. */
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
    // a learner has no data of its own, and cannot start with the data it finds
    if (pod?.dataOutlived && !pod.terminating && claim !== undefined) return { kind: 'delete-claim', name, uid: claim };
    // it failed before it was a member, and its restart back-off would be long
    if ((pod?.dataLost || pod?.wasRefused) && !pod.terminating) return { kind: 'restart', name };
    return wait('EtcdMemberStarting', `${name} is catching up with the other members of etcd`);
  }
  return undefined;
}

/** Deletes claims of removed members, whose data would keep a new member of the same name from starting. */
function discardClaims({ set, observed, desired, store }: Situation): EtcdStep | undefined {
  for (const [name, uid] of Object.entries(set.settings.discard)) {
    // the user's volume is kept until the name is needed again
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

/** Restarts outdated Pods one by one, the leader's last. */
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

/** Recovers from a NOSPACE alarm: etcd refuses writes until its files are defragmented and the alarm is cleared. */
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

/** Defragments one member at a time, which blocks it; the leader last, and only while all others are healthy. */
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
  // an invalid expression was refused earlier; ignore it here
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

/** Transfers leadership first, so that clients notice nothing. */
function withoutLeadership(all: readonly EtcdMember[], member: EtcdMember): EtcdStep | undefined {
  if (!member.isLeader) return undefined;
  const heir = all.find((other) => other !== member && other.healthy && !other.isLearner);
  return heir && { kind: 'move-leader', from: member.id, to: heir.id };
}

/** Excludes members that are starting. The leaving member itself is unhealthy, but must not count as starting. */
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
