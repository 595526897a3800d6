import type { EtcdMember, OpenEtcd } from '../etcd-client/types.ts';

/** rke2 appends a random suffix to the node name, so that a recreated node is a new member. */
const suffix = /-[0-9a-f]{8}$/;

const byNode = (member: EtcdMember): EtcdMember => ({ ...member, name: member.name.replace(suffix, '') });

/** Renames etcd members to their Nodes, as the other code expects. */
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
