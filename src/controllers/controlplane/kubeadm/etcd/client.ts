import type { GrpcChannel } from './grpc.ts';
import { emptyRequest, memberIdRequest, memberListRequest, readAlarms, readMembers, readStatus } from './messages.ts';
import type { EtcdClient } from './types.ts';

const cluster = '/etcdserverpb.Cluster';
const maintenance = '/etcdserverpb.Maintenance';

/** etcd's own API over a gRPC channel to one member. */
export function etcdClient(channel: GrpcChannel): EtcdClient {
  return {
    members: async (signal) => readMembers(await channel.call(`${cluster}/MemberList`, memberListRequest(), signal)),
    status: async (signal) => readStatus(await channel.call(`${maintenance}/Status`, emptyRequest(), signal)),
    // the zero value of the request asks for all alarms of all members
    alarms: async (signal) => readAlarms(await channel.call(`${maintenance}/Alarm`, emptyRequest(), signal)),
    removeMember: async (id, signal) =>
      readMembers(await channel.call(`${cluster}/MemberRemove`, memberIdRequest(id), signal)),
    promoteMember: async (id, signal) =>
      readMembers(await channel.call(`${cluster}/MemberPromote`, memberIdRequest(id), signal)),
    async moveLeader(targetId, signal) {
      await channel.call(`${maintenance}/MoveLeader`, memberIdRequest(targetId), signal);
    },
    isClosed: () => channel.isClosed(),
    close: () => channel.close(),
  };
}
