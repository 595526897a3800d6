import { authMethods } from './auth-methods.ts';
import { agreed, type EtcdCall, type EtcdEndpoint, header, idNumber, idText, type Method } from './endpoint.ts';
import { EtcdError, etcdErrors, grpcCode } from './errors.ts';
import type { AlarmType, EtcdMember } from './etcd-cluster.ts';
import { keyMethods } from './key-methods.ts';
import { type Fields, numberOf, textsOf, writeFields } from './protobuf.ts';
import { minorOf } from './version.ts';

const alarmNumbers: Readonly<Record<AlarmType, number>> = { NOSPACE: 1, CORRUPT: 2 };
const quotaBytes = 2 * 1024 * 1024 * 1024;
const snapshotPartBytes = 32 * 1024;

function memberMessage({ id, name, peerUrls, clientUrls, isLearner }: EtcdMember): Buffer {
  return writeFields({ 1: idNumber(id), 2: name, 3: peerUrls, 4: clientUrls, 5: isLearner });
}

const memberMessages = ({ cluster }: EtcdEndpoint): Buffer[] => cluster.members.map(memberMessage);

function alarmType(number: bigint): AlarmType | undefined {
  return number === 1n ? 'NOSPACE' : number === 2n ? 'CORRUPT' : undefined;
}

/** Membership changes require an administrator. */
function administered({ endpoint, user }: EtcdCall): EtcdEndpoint {
  endpoint.cluster.access.checkAdministrator(user);
  return endpoint;
}

const membershipMethods: Readonly<Record<string, Method>> = {
  '/etcdserverpb.Cluster/MemberList'({ endpoint }, request) {
    if (numberOf(request, 1) !== 0n) agreed(endpoint);
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberAdd'(call, request) {
    const endpoint = administered(call);
    const member = endpoint.cluster.add(textsOf(request, 1), { isLearner: numberOf(request, 2) !== 0n });
    return writeFields({ 1: header(endpoint), 2: memberMessage(member), 3: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberRemove'(call, request) {
    const endpoint = administered(call);
    endpoint.cluster.remove(idText(numberOf(request, 1)));
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberUpdate'(call, request) {
    const endpoint = administered(call);
    endpoint.cluster.update(idText(numberOf(request, 1)), textsOf(request, 2));
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
  '/etcdserverpb.Cluster/MemberPromote'(call, request) {
    const endpoint = administered(call);
    endpoint.cluster.promote(idText(numberOf(request, 1)));
    return writeFields({ 1: header(endpoint), 2: memberMessages(endpoint) });
  },
};

const maintenanceMethods: Readonly<Record<string, Method>> = {
  '/etcdserverpb.Maintenance/Status'({ endpoint }) {
    const { cluster, memberId } = endpoint;
    const { leaderId } = cluster;
    const index = endpoint.data.revision() + cluster.term;
    const problems = [
      ...(leaderId === undefined ? [etcdErrors.noLeader().message] : []),
      ...cluster.alarms.map((alarm) => `memberID:${idNumber(alarm.memberId)} alarm:${alarm.type} `),
    ];
    return writeFields({
      1: header(endpoint),
      2: endpoint.version,
      3: endpoint.data.bytes(),
      4: leaderId === undefined ? 0n : idNumber(leaderId),
      5: index,
      6: cluster.term,
      7: index,
      8: problems,
      9: endpoint.data.bytes(),
      10: cluster.member(memberId)?.isLearner ?? false,
      11: `${cluster.version ?? minorOf(endpoint.version)}.0`,
      12: quotaBytes,
    });
  },
  '/etcdserverpb.Maintenance/Alarm'({ endpoint }, request) {
    agreed(endpoint);
    const { cluster } = endpoint;
    const action = numberOf(request, 1);
    const memberNumber = numberOf(request, 2);
    const memberId = memberNumber === 0n ? '' : idText(memberNumber);
    const type = alarmType(numberOf(request, 3));
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
  '/etcdserverpb.Maintenance/MoveLeader'({ endpoint }, request) {
    endpoint.cluster.moveLeader(endpoint.memberId, idText(numberOf(request, 1)));
    return writeFields({ 1: header(endpoint) });
  },
  '/etcdserverpb.Maintenance/Defragment': ({ endpoint }) => writeFields({ 1: header(endpoint) }),
  '/etcdserverpb.Maintenance/Hash': ({ endpoint }) =>
    writeFields({ 1: header(endpoint), 2: endpoint.data.hash(endpoint.data.revision()) }),
  '/etcdserverpb.Maintenance/HashKV'({ endpoint }, request) {
    const revision = Number(numberOf(request, 1)) || endpoint.data.revision();
    return writeFields({ 1: header(endpoint), 2: endpoint.data.hash(revision), 4: revision });
  },
  async '/etcdserverpb.Maintenance/Snapshot'(call) {
    const endpoint = administered(call);
    const bytes = Buffer.from(await endpoint.data.snapshot());
    const parts: Buffer[] = [];
    for (let start = 0; start < bytes.length; start += snapshotPartBytes) {
      const part = bytes.subarray(start, start + snapshotPartBytes);
      const remaining = bytes.length - start - part.length;
      parts.push(writeFields({ 1: header(endpoint), 2: remaining, 3: part, 4: endpoint.version }));
    }
    return parts;
  },
};

const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...membershipMethods, ...maintenanceMethods, ...keyMethods, ...authMethods }),
);

/** Handles one call and returns one or more messages. Throws EtcdError. */
export async function callEtcd(call: EtcdCall, path: string, request: Fields): Promise<readonly Buffer[]> {
  const [, service = '', name = ''] = path.split('/');
  const method = methods.get(path);
  if (!method) throw new EtcdError(grpcCode.unimplemented, `unknown method ${name} for service ${service}`);
  const { endpoint } = call;
  if (!endpoint.cluster.isRunning(endpoint.memberId)) throw etcdErrors.stopped();
  const answer = await method(call, request);
  // Changes of membership and permissions are durable before the response.
  if (service !== 'etcdserverpb.KV') await endpoint.data.saved();
  return Buffer.isBuffer(answer) ? [answer] : answer;
}
