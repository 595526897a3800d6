import { hasQuorum } from '../../../../hosting/index.ts';
import { type EtcdAdministrator, type EtcdAlarm, EtcdError, type EtcdMember } from '../types.ts';

export interface FakeMember {
  id: string;
  /** empty until the member has started */
  name: string;
  peerUrl: string;
  isLearner: boolean;
  isUp: boolean;
  dbSize: number;
  dbSizeInUse: number;
}

const snapshot: readonly Buffer[] = [Buffer.from('snapshot of '), Buffer.from('everything')];

/**
 * An in-memory etcd cluster that enforces the rules of a real one, logs requests and records changes that a careful
 * controller would not make. simkube's etcd implements the wire protocol; this one replaces the client, so that tests
 * on a manual clock need no sockets.
 */
export class FakeEtcd {
  readonly log: string[] = [];
  /** changes that lost quorum or removed the leader */
  readonly violations: string[] = [];
  readonly alarms: EtcdAlarm[] = [];
  members: FakeMember[] = [];
  leader: string | undefined;
  /** stored keys */
  readonly keys: Map<string, string> = new Map();
  /** called with the number of running API servers when the keys are replaced */
  onKeysReplaced: (programs: number) => void = () => {};
  programs: () => number = () => 0;
  #ids = 0x1000;

  /** Adds a member as learner and promotes it. */
  join(name: string, address: string): void {
    const member = this.announce(address);
    member.isLearner = false;
    this.begin(member, name);
  }

  /** Adds a member before its start, as kubeadm does. */
  announce(address: string): FakeMember {
    return this.add(`https://${address}:2380`, this.members.length > 0);
  }

  add(peerUrl: string, isLearner: boolean): FakeMember {
    const id = (this.#ids++).toString(16);
    const member = { id, name: '', peerUrl, isLearner, isUp: false, dbSize: 100, dbSizeInUse: 100 };
    this.members.push(member);
    return member;
  }

  /** Starts or restarts a member. */
  begin(member: FakeMember, name: string): void {
    member.name = name;
    member.isUp = true;
    this.#elect();
  }

  /** Stops a member, as if its machine or Pod went down. */
  stop(name: string): void {
    const member = this.#named(name);
    if (!member) return;
    member.isUp = false;
    this.#elect();
  }

  /** Tells whether the readiness probe of a member succeeds; learners fail it. */
  isReady(name: string): boolean {
    const member = this.#named(name);
    return member?.isUp === true && !member.isLearner && this.hasQuorum();
  }

  /** names of all members, including learners and unstarted ones */
  names(): string[] {
    return this.members.map(({ name }) => name).sort();
  }

  voters(): string[] {
    return this.members.flatMap(({ name, isLearner }) => (isLearner ? [] : [name])).sort();
  }

  hasQuorum(): boolean {
    return hasQuorum(this.members.map((member) => ({ ...member, healthy: member.isUp, peerUrls: [member.peerUrl] })));
  }

  /** Connects to the member with that name. */
  async connect(name: string): Promise<EtcdAdministrator> {
    const own = this.#named(name);
    if (!own?.isUp) throw new EtcdError(`connect ECONNREFUSED ${name}:2379`);
    return this.#client(own);
  }

  #named(name: string): FakeMember | undefined {
    return this.members.find((one) => one.name === name);
  }

  #find(id: string): FakeMember {
    const member = this.members.find((one) => one.id === id);
    if (!member) throw new EtcdError('etcdserver: member not found', { status: 5 });
    return member;
  }

  #elect(): void {
    const current = this.members.find(({ id }) => id === this.leader);
    if (current?.isUp && this.hasQuorum()) return;
    this.leader = this.hasQuorum() ? this.members.find(({ isUp, isLearner }) => isUp && !isLearner)?.id : undefined;
  }

  #note(text: string): void {
    this.log.push(text);
    if (!this.hasQuorum()) this.violations.push(`${text}, which cost the quorum`);
  }

  #client(own: FakeMember): EtcdAdministrator {
    const agree = (): void => {
      if (!own.isUp) throw new EtcdError('connection closed');
      if (!this.hasQuorum()) throw new EtcdError('etcdserver: request timed out', { status: 14 });
    };
    return {
      members: async () => {
        agree();
        return this.#shown();
      },
      status: async () => ({
        memberId: own.id,
        leaderId: this.leader ?? '0',
        version: '3.6.6',
        isLearner: own.isLearner,
        raftTerm: 2,
        raftIndex: 10,
        raftAppliedIndex: 10,
        dbSizeBytes: own.dbSize,
        dbSizeInUseBytes: own.dbSizeInUse,
        errors: [],
      }),
      alarms: async () => [...this.alarms],
      disarm: async ({ memberId, type }) => {
        const at = this.alarms.findIndex((alarm) => alarm.memberId === memberId && alarm.type === type);
        if (at >= 0) this.alarms.splice(at, 1);
      },
      addLearner: async ([peerUrl = '']) => {
        agree();
        const { id } = this.add(peerUrl, true);
        this.#note(`added ${/\/\/([^.]+)/.exec(peerUrl)?.[1]}`);
        return id;
      },
      promoteMember: async (id) => {
        agree();
        const member = this.#find(id);
        member.isLearner = false;
        this.#note(`promoted ${member.name}`);
        return this.#shown();
      },
      removeMember: async (id) => {
        agree();
        const member = this.#find(id);
        if (member === own) throw new EtcdError('a member cannot be asked to remove itself');
        if (this.leader === id) this.violations.push(`${member.name} was removed while it was the leader`);
        this.members = this.members.filter((one) => one !== member);
        this.#note(`removed ${member.name || id}`);
        this.#elect();
        return this.#shown();
      },
      moveLeader: async (id) => {
        agree();
        if (this.leader !== own.id) throw new EtcdError('etcdserver: not leader', { status: 9 });
        const target = this.#find(id);
        if (!target.isUp || target.isLearner) throw new EtcdError('etcdserver: bad leader transferee', { status: 9 });
        this.leader = id;
        this.#note(`leader ${target.name}`);
      },
      defragment: async () => {
        own.dbSize = own.dbSizeInUse;
        this.#note(`defragmented ${own.name}`);
      },
      snapshot: async (write) => {
        for (const part of snapshot) await write(part);
      },
      keys: {
        put: async ({ key, value }) => {
          agree();
          this.keys.set(key.toString(), value.toString());
        },
        deleteAll: async () => {
          agree();
          const count = this.keys.size;
          this.keys.clear();
          this.onKeysReplaced(this.programs());
          this.#note(`deleted ${count} keys`);
          return count;
        },
      },
      tenants: { ensure: async () => {}, drop: async () => {}, enforce: async () => {} },
      isClosed: () => !own.isUp,
      close: () => {},
    };
  }

  #shown(): EtcdMember[] {
    return this.members.map(({ id, name, peerUrl, isLearner }) => ({
      id,
      name,
      peerUrls: [peerUrl],
      clientUrls: name === '' ? [] : [peerUrl.replace(':2380', ':2379')],
      isLearner,
    }));
  }
}
