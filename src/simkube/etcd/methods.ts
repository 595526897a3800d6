import { createHash } from 'node:crypto';
import { EtcdError, etcdErrors, grpcCode } from './errors.ts';
import type { AlarmType, EtcdCluster, EtcdMember } from './etcd-cluster.ts';
import { type Fields, numberField, textFields, writeFields } from './protobuf.ts';

/** One member as its clients meet it. */
export interface EtcdEndpoint {
  readonly cluster: EtcdCluster;
  readonly memberId: string;
  /** of the etcd program, such as 3.6.4 */
  readonly version: string;
  /** newest revision stored */
  revision(): number;
  /** bytes the data takes */
  databaseBytes(): number;
}

type Method = (endpoint: EtcdEndpoint, request: Fields) => Buffer;

const alarmNumbers: Readonly<Record<AlarmType, number>> = { NOSPACE: 1, CORRUPT: 2 };
const quotaBytes = 2 * 1024 * 1024 * 1024;

const idNumber = (id: string): bigint => BigInt(`0x${id}`);
const idText = (id: bigint): string => id.toString(16);

function header({ cluster, memberId, revision }: EtcdEndpoint): Buffer {
  return writeFields({ 1: idNumber(cluster.id), 2: idNumber(memberId), 3: revision(), 4: cluster.term });
}

function memberMessage({ id, name, peerUrls, clientUrls, isLearner }: EtcdMember): Buffer {
  return writeFields({ 1: idNumber(id), 2: name, 3: peerUrls, 4: clientUrls, 5: isLearner });
}

const memberMessages = ({ cluster }: EtcdEndpoint): Buffer[] => cluster.members.map(memberMessage);

/** Answers that must be the newest need a majority to say so. */
function agreed({ cluster }: EtcdEndpoint): void {
  if (!cluster.hasQuorum) throw etcdErrors.timeout();
}

function alarmType(number: bigint): AlarmType | undefined {
  return number === 1n ? 'NOSPACE' : number === 2n ? 'CORRUPT' : undefined;
}

/** Every member must answer the same for the same revision. */
function dataHash({ cluster }: EtcdEndpoint, revision: number): number {
  return createHash('sha256').update(`${cluster.id} ${revision}`).digest().readUInt32BE(0);
}

const membershipMethods: Readonly<Record<string, Method>> = {
  '/etcdserverpb.Cluster/MemberList'(endpoint, request) {
    if (numberField(request, 1) !== 0n) agreed(endpoint);
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberAdd'(endpoint, request) {
    const member = endpoint.cluster.add(textFields(request, 1), numberField(request, 2) !== 0n);
    return writeFields({ 1: header(endpoint), 2: memberMessage(member), 3: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberRemove'(endpoint, request) {
    endpoint.cluster.remove(idText(numberField(request, 1)));
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberUpdate'(endpoint, request) {
    endpoint.cluster.update(idText(numberField(request, 1)), textFields(request, 2));
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberPromote'(endpoint, request) {
    endpoint.cluster.promote(idText(numberField(request, 1)));
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
};

const maintenanceMethods: Readonly<Record<string, Method>> = {
  '/etcdserverpb.Maintenance/Status'(endpoint) {
    const { cluster, memberId } = endpoint;
    const { leaderId } = cluster;
    const index = endpoint.revision() + cluster.term;
    const problems = [
      ...(leaderId === undefined ? [etcdErrors.noLeader().message] : []),
      ...cluster.alarms.map((alarm) => `memberID:${idNumber(alarm.memberId)} alarm:${alarm.type} `),
    ];
    return writeFields({
      1: header(endpoint),
      2: endpoint.version,
      3: endpoint.databaseBytes(),
      4: leaderId === undefined ? 0n : idNumber(leaderId),
      5: index,
      6: cluster.term,
      7: index,
      8: problems,
      9: endpoint.databaseBytes(),
      10: cluster.member(memberId)?.isLearner ?? false,
      11: `${endpoint.version.split('.').slice(0, 2).join('.')}.0`,
      12: quotaBytes,
    });
  },
  '/etcdserverpb.Maintenance/Alarm'(endpoint, request) {
    agreed(endpoint);
    const { cluster } = endpoint;
    const action = numberField(request, 1);
    const memberNumber = numberField(request, 2);
    const memberId = memberNumber === 0n ? '' : idText(memberNumber);
    const type = alarmType(numberField(request, 3));
    if (action === 1n && type) cluster.raiseAlarm({ memberId: memberId || endpoint.memberId, type });
    const alarms =
      action === 2n
        ? cluster.clearAlarms(memberId, type)
        : cluster.alarms.filter((alarm) => type === undefined || alarm.type === type);
    return writeFields({
      1: header(endpoint),
      2: alarms.map((alarm) => writeFields({ 1: idNumber(alarm.memberId), 2: alarmNumbers[alarm.type] })),
    });
  },
  '/etcdserverpb.Maintenance/MoveLeader'(endpoint, request) {
    endpoint.cluster.moveLeader(endpoint.memberId, idText(numberField(request, 1)));
    return writeFields({ 1: header(endpoint) });
  },
  '/etcdserverpb.Maintenance/Defragment': (endpoint) => writeFields({ 1: header(endpoint) }),
  '/etcdserverpb.Maintenance/Hash': (endpoint) =>
    writeFields({ 1: header(endpoint), 2: dataHash(endpoint, endpoint.revision()) }),
  '/etcdserverpb.Maintenance/HashKV'(endpoint, request) {
    const revision = Number(numberField(request, 1)) || endpoint.revision();
    return writeFields({ 1: header(endpoint), 2: dataHash(endpoint, revision), 4: revision });
  },
};

const keyMethods: Readonly<Record<string, Method>> = {
  // etcdctl's health check reads a key nobody writes; what matters is that a majority agrees it is not there.
  '/etcdserverpb.KV/Range'(endpoint, request) {
    const isSerializable = numberField(request, 7) !== 0n;
    if (!isSerializable) agreed(endpoint);
    if (endpoint.cluster.member(endpoint.memberId)?.isLearner) {
      throw new EtcdError(grpcCode.unavailable, 'etcdserver: rpc not supported for learner');
    }
    return writeFields({ 1: header(endpoint) });
  },
};

const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...membershipMethods, ...maintenanceMethods, ...keyMethods }),
);

/** Answers one call; throws EtcdError. */
export function callEtcd(endpoint: EtcdEndpoint, path: string, request: Fields): Buffer {
  const [, service = '', name = ''] = path.split('/');
  const method = methods.get(path);
  if (!method) throw new EtcdError(grpcCode.unimplemented, `unknown method ${name} for service ${service}`);
  if (!endpoint.cluster.isRunning(endpoint.memberId)) throw etcdErrors.stopped();
  return method(endpoint, request);
}
