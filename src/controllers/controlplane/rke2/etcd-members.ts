import type { EtcdMember, OpenEtcd } from '../etcd-client/types.ts';

/** rke2 adds this to the name of the Node, so that a machine that comes back is another member. */
const suffix = /-[0-9a-f]{8}$/;

const byNode = (member: EtcdMember): EtcdMember => ({ ...member, name: member.name.replace(suffix, '') });

/** Members of etcd under the names of their Nodes, as everybody else here knows them. */
export function membersByNode(open: OpenEtcd): OpenEtcd {
  return async (target, signal) => {
    const client = await open(target, signal);
    return {
      members: async (s) => (await client.members(s)).map(byNode),
      removeMember: async (id, s) => (await client.removeMember(id, s)).map(byNode),
      promoteMember: async (id, s) => (await client.promoteMember(id, s)).map(byNode),
      status: (s) => client.status(s),
      alarms: (s) => client.alarms(s),
      moveLeader: (id, s) => client.moveLeader(id, s),
      isClosed: () => client.isClosed(),
      close: () => client.close(),
    };
  };
}
