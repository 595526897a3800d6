import type { EtcdAlarm, EtcdClient, EtcdMember, OpenEtcd } from '../../etcd-client/types.ts';
import { hasQuorum } from '../decisions/quorum.ts';

interface Member {
  id: string;
  /** empty until it has started */
  name: string;
  address: string;
  isLearner: boolean;
  up: boolean;
}

/** An etcd cluster in memory that keeps the rules of a real one, and remembers when a change took its quorum away. */
export class FakeEtcd {
  readonly members: Member[] = [];
  readonly alarms: EtcdAlarm[] = [];
  /** changes asked for from outside that cost the quorum */
  readonly violations: string[] = [];
  readonly log: string[] = [];
  leader: string | undefined;
  #ids = 0x1000;

  /** A member joins: first without a vote, then with one. */
  join(name: string, address: string): void {
    const member = this.announce(address);
    member.name = name;
    member.up = true;
    member.isLearner = false;
    this.leader ??= member.id;
  }

  /** kubeadm adds a member before it starts it. */
  announce(address: string): Member {
    const first = this.members.length === 0;
    const member = { id: (this.#ids++).toString(16), name: '', address, isLearner: !first, up: false };
    this.members.push(member);
    return member;
  }

  /** The machine of a member goes off. */
  stop(name: string): void {
    const member = this.members.find((one) => one.name === name);
    if (!member) return;
    member.up = false;
    if (this.leader === member.id) this.leader = this.members.find(({ up, isLearner }) => up && !isLearner)?.id;
  }

  names(): string[] {
    return this.members.map(({ name }) => name).sort();
  }

  hasQuorum(): boolean {
    return hasQuorum(this.members.map((member) => ({ ...member, healthy: member.up })));
  }

  readonly open: OpenEtcd = async ({ node }) => {
    const own = this.members.find(({ name }) => name === node);
    if (!own?.up) throw new Error(`connect ECONNREFUSED: etcd-${node}`);
    return this.#client(own);
  };

  #client(own: Member): EtcdClient {
    const agree = (): void => {
      if (!this.hasQuorum()) throw new Error('etcdserver: request timed out');
      if (!own.up) throw new Error('connection closed');
    };
    const find = (id: string): Member => {
      const member = this.members.find((one) => one.id === id);
      if (!member) throw new Error('etcdserver: member not found');
      return member;
    };
    return {
      members: async () => {
        agree();
        return this.#shown();
      },
      status: async () => ({
        memberId: own.id,
        leaderId: this.hasQuorum() ? (this.leader ?? '0') : '0',
        version: '3.6.6',
        isLearner: own.isLearner,
        raftTerm: 2,
        raftIndex: 10,
        raftAppliedIndex: 10,
        dbSizeBytes: 4096,
        dbSizeInUseBytes: 4096,
        errors: [],
      }),
      alarms: async () => [...this.alarms],
      removeMember: async (id) => {
        agree();
        const member = find(id);
        if (member === own) throw new Error('a member cannot be asked to remove itself');
        if (this.leader === id) this.violations.push(`${member.name} was removed while it was the leader`);
        this.members.splice(this.members.indexOf(member), 1);
        this.log.push(`removed ${member.name || id}`);
        if (!this.hasQuorum()) this.violations.push(`removal of ${member.name || id} cost the quorum`);
        return this.#shown();
      },
      promoteMember: async (id) => {
        agree();
        find(id).isLearner = false;
        return this.#shown();
      },
      moveLeader: async (id) => {
        agree();
        if (this.leader !== own.id) throw new Error('etcdserver: not leader');
        const target = find(id);
        if (!target.up || target.isLearner) throw new Error('etcdserver: bad leader transferee');
        this.leader = id;
        this.log.push(`leader ${target.name}`);
      },
      isClosed: () => false,
      close: () => {},
    };
  }

  #shown(): EtcdMember[] {
    return this.members.map(({ id, name, address, isLearner }) => ({
      id,
      name,
      peerUrls: [`https://${address}:2380`],
      clientUrls: name === '' ? [] : [`https://${address}:2379`],
      isLearner,
    }));
  }
}
