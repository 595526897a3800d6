import { ConfigMaps, PersistentVolumeClaims } from '../../../../api/index.ts';
import {
  claimName,
  type EtcdClusterSpec,
  type EtcdObservation,
  type EtcdPod,
  type EtcdSetFacts,
  type EtcdSettings,
  initialCluster,
  type EtcdMember as MemberView,
  maxEtcdMembers,
  memberName,
  parseSettings,
} from '../../../../hosting/index.ts';
import { errorMessage } from '../../../../machinery/index.ts';
import type { CacheReader } from '../../../../runtime/index.ts';
import type { EtcdAdministrator, EtcdAlarm, EtcdMember, EtcdStatus } from '../../etcd-client/types.ts';
import { type PodSight, readStatefulSet, type SetSight } from '../sets.ts';
import type { OpenPlaneEtcd, PlaneEtcdTarget } from './connect.ts';

/** State of an etcd as the management API shows it. */
export interface EtcdSight {
  readonly set: SetSight | undefined;
  readonly facts: EtcdSetFacts | undefined;
  /** the StatefulSet is the plane's, but another program made it: there are no settings yet */
  readonly isFromOthers: boolean;
  /** recorded for these members, not for those of an earlier plane with the same name */
  readonly recorded: EtcdSettings | undefined;
  readonly pods: readonly EtcdPod[];
  /** members whose container runs and may answer */
  readonly running: readonly string[];
  readonly claims: ReadonlyMap<string, string>;
}

/** Responses of the members. */
export interface EtcdAnswers {
  readonly members: readonly MemberView[] | undefined;
  readonly problems: readonly string[];
}

/** Log messages of a member that is known to the others but has lost its data. */
const lostData = /has already been bootstrapped|removed from the cluster|member .* not found|already removed/i;
/** Log messages of a member that was removed but still has its data. */
const outlivedData = /removed from the cluster|already removed/i;
/** Log messages of membership mismatches; they also occur briefly when a member is added. */
const notAMember = /member count is unequal|unmatched member|couldn't find local name/i;
const etcdContainer = 'etcd';
/** Progress a learner needs relative to the leader; etcd itself uses the same share. */
const inSyncShare = 0.9;

export function seeEtcd(cache: CacheReader, desired: EtcdClusterSpec): EtcdSight {
  const { naming, identity } = desired;
  const { namespace } = identity;
  const set = readStatefulSet(cache, { namespace, name: naming.etcd });
  const claims = new Map<string, string>();
  for (let index = 0; index < maxEtcdMembers; index++) {
    const member = memberName(naming, index);
    const claim = cache.lister(PersistentVolumeClaims).get({ namespace, name: claimName(naming, member) });
    if (claim && claim.metadata.deletionTimestamp === undefined) claims.set(member, claim.metadata.uid ?? '');
  }
  const record = cache.lister(ConfigMaps).get({ namespace, name: naming.etcdSettings });
  const settings = parseSettings(record?.data);
  const isOwn = record?.metadata.ownerReferences?.some(({ uid }) => uid === identity.owner.uid) === true;
  const volumeSize = set && templateSize(set);
  // evidence is the owner, which only this plane has; a StatefulSet that merely has the name does not count
  const isFromOthers =
    !settings && set?.set.metadata.ownerReferences?.some(({ uid }) => uid === identity.owner.uid) === true;
  const known = settings ?? (isFromOthers && set ? settingsOfOthers(desired, set) : undefined);
  const facts = set &&
    known && {
      replicas: set.wanted,
      image: imageOf(set),
      settings: known,
      ...(volumeSize !== undefined && { volumeSize }),
    };
  const pods = set?.pods ?? [];
  return {
    set,
    facts,
    isFromOthers,
    recorded: isOwn ? settings : undefined,
    pods: pods.map(podView),
    running: pods
      .filter(({ pod, isTerminating }) => !isTerminating && pod.status?.phase === 'Running')
      .map(({ name }) => name),
    claims,
  };
}

/** Settings of members that another program started. Their claims are recorded once they answer. */
function settingsOfOthers(desired: EtcdClusterSpec, { wanted }: SetSight): EtcdSettings {
  const names = Array.from({ length: wanted }, (_, index) => memberName(desired.naming, index));
  return { initialCluster: initialCluster(desired, names), initialClusterState: 'existing', claims: {}, discard: {} };
}

const imageOf = ({ set }: SetSight): string =>
  set.spec.template?.spec?.containers?.find(({ name }) => name === etcdContainer)?.image ??
  set.spec.template?.spec?.containers?.[0]?.image ??
  '';

function podView({ pod, name, isReady, isUpToDate, isTerminating }: PodSight): EtcdPod {
  const container = pod.spec?.containers?.find((one) => one.name === etcdContainer) ?? pod.spec?.containers?.[0];
  const status = pod.status?.containerStatuses?.find((one) => one.name === container?.name);
  const words = [
    status?.state?.terminated?.message,
    status?.lastState?.terminated?.message,
    status?.state?.waiting?.message,
  ];
  return {
    name,
    ready: isReady,
    image: container?.image ?? '',
    upToDate: isUpToDate,
    terminating: isTerminating,
    dataLost: !isReady && words.some((text) => text !== undefined && lostData.test(text)),
    dataOutlived: !isReady && words.some((text) => text !== undefined && outlivedData.test(text)),
    wasRefused:
      status?.state?.waiting !== undefined && words.some((text) => text !== undefined && notAMember.test(text)),
  };
}

/** Queries the status of every running member, and the member list from the first that can serve it. */
export async function askEtcd(
  open: OpenPlaneEtcd,
  targetOf: (member: string) => PlaneEtcdTarget,
  names: readonly string[],
  signal: AbortSignal,
): Promise<EtcdAnswers> {
  const problems: string[] = [];
  const clients = new Map<string, EtcdAdministrator>();
  const statuses = new Map<string, EtcdStatus>();
  const fail = (name: string, error: unknown): void => {
    if (signal.aborted) throw error;
    problems.push(`${name}: ${errorMessage(error)}`);
  };
  try {
    await Promise.all(
      names.map(async (name) => {
        try {
          const client = await open(targetOf(name), signal);
          clients.set(name, client);
          statuses.set(name, await client.status(signal));
        } catch (error) {
          fail(name, error);
        }
      }),
    );
    // fixed order, so that response times do not decide which member is used
    for (const name of names) {
      const status = statuses.get(name);
      const client = clients.get(name);
      if (!status || !client || status.isLearner || status.leaderId === '0') continue;
      try {
        const members = await client.members(signal);
        return { members: memberViews(members, await client.alarms(signal), [...statuses.values()]), problems };
      } catch (error) {
        fail(name, error);
      }
    }
    return { members: undefined, problems: problems.sort() };
  } finally {
    for (const client of clients.values()) client.close();
  }
}

function memberViews(
  members: readonly EtcdMember[],
  alarms: readonly EtcdAlarm[],
  answers: readonly EtcdStatus[],
): MemberView[] {
  const statuses = new Map(answers.map((status) => [status.memberId, status]));
  const leaderId = [...statuses.values()].find((status) => status.leaderId !== '0')?.leaderId;
  const leaderIndex = statuses.get(leaderId ?? '')?.raftIndex ?? 0;
  return members.map((member) => {
    const status = statuses.get(member.id);
    const own = alarms.filter(({ memberId }) => memberId === member.id).map(({ type }) => type);
    return {
      id: member.id,
      name: member.name,
      peerUrls: member.peerUrls,
      isLearner: member.isLearner,
      isLeader: member.id === leaderId,
      healthy: status !== undefined && status.leaderId !== '0' && !own.includes('CORRUPT'),
      inSync: status !== undefined && status.raftAppliedIndex >= leaderIndex * inSyncShare,
      alarms: own,
      ...(status && { version: status.version, dbSize: status.dbSizeBytes, dbSizeInUse: status.dbSizeInUseBytes }),
    };
  });
}

export function etcdObservation(
  sight: EtcdSight,
  answers: EtcdAnswers,
  more: Pick<EtcdObservation, 'defragmentDue' | 'quotaBytes' | 'tidied' | 'restores' | 'users'>,
): EtcdObservation {
  const { facts, recorded } = sight;
  return {
    ...(recorded && { recorded }),
    ...(facts && { set: { replicas: facts.replicas, image: facts.image, settings: facts.settings } }),
    pods: sight.pods,
    claims: sight.claims,
    ...(answers.members && { members: answers.members }),
    ...more,
  };
}

/** Returns the size in volumeClaimTemplates, which stays even if the claims grow. */
function templateSize({ set }: SetSight): string | undefined {
  const [template] = 'volumeClaimTemplates' in set.spec ? (set.spec.volumeClaimTemplates ?? []) : [];
  return template?.spec.resources?.requests?.['storage'];
}
