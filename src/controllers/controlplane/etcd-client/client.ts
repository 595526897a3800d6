import type { GrpcChannel } from './grpc.ts';
import { etcdKeys } from './keys.ts';
import {
  addLearnerRequest,
  disarmRequest,
  emptyRequest,
  memberIdRequest,
  memberListRequest,
  readAddedMember,
  readAlarms,
  readMembers,
  readSnapshotPart,
  readStatus,
} from './messages.ts';
import { etcdTenants } from './tenants.ts';
import type { EtcdAdministrator } from './types.ts';

const cluster = '/etcdserverpb.Cluster';
const maintenance = '/etcdserverpb.Maintenance';

/** Builds an etcd client over a gRPC channel to one member. */
export function etcdClient(channel: GrpcChannel): EtcdAdministrator {
  return {
    members: async (signal) => readMembers(await channel.call(`${cluster}/MemberList`, memberListRequest(), signal)),
    status: async (signal) => readStatus(await channel.call(`${maintenance}/Status`, emptyRequest(), signal)),
    // a request of zero values asks for all alarms of all members
    alarms: async (signal) => readAlarms(await channel.call(`${maintenance}/Alarm`, emptyRequest(), signal)),
    removeMember: async (id, signal) =>
      readMembers(await channel.call(`${cluster}/MemberRemove`, memberIdRequest(id), signal)),
    promoteMember: async (id, signal) =>
      readMembers(await channel.call(`${cluster}/MemberPromote`, memberIdRequest(id), signal)),
    async moveLeader(targetId, signal) {
      await channel.call(`${maintenance}/MoveLeader`, memberIdRequest(targetId), signal);
    },
    addLearner: async (peerUrls, signal) =>
      readAddedMember(await channel.call(`${cluster}/MemberAdd`, addLearnerRequest(peerUrls), signal)),
    async defragment(signal) {
      await channel.call(`${maintenance}/Defragment`, emptyRequest(), signal);
    },
    snapshot: (write, signal) =>
      channel.stream(
        `${maintenance}/Snapshot`,
        emptyRequest(),
        async (message) => {
          const part = readSnapshotPart(message);
          if (part.length > 0) await write(part);
        },
        signal,
      ),
    async disarm(alarm, signal) {
      await channel.call(`${maintenance}/Alarm`, disarmRequest(alarm), signal);
    },
    tenants: etcdTenants(channel),
    keys: etcdKeys(channel),
    isClosed: () => channel.isClosed(),
    close: () => channel.close(),
  };
}
