import { hasQuorum } from '../../../../hosting/index.ts';
import { type EtcdAdministrator, EtcdError, type EtcdMember } from '../../etcd-client/types.ts';
import type { OpenPlaneEtcd } from '../etcd/connect.ts';

interface Member {
  id: string;
  /** empty until it has started */
  name: string;
  peerUrl: string;
  isLearner: boolean;
  isUp: boolean;
  dbSize: number;
  dbSizeInUse: number;
}

export interface EtcdStart {
  name: string;
  /** of the volume its data is on */
  volume: string;
  initialCluster: string;
  initialClusterState: string;
  image: string;
}

/** An etcd whose members run in Pods: it keeps the rules of a real one and writes down what was asked of it. */
export class FakePlaneEtcd {
  readonly log: string[] = [];
  /** changes that cost the majority */
  readonly violations: string[] = [];
  members: Member[] = [];
  leader: string | undefined;
  /** volume -> the member whose data is on it */
  readonly volumes: Map<string, string> = new Map<string, string>();
  readonly images: Map<string, string> = new Map<string, string>();
  snapshot: readonly Buffer[] = [Buffer.from('snapshot of '), Buffer.from('everything')];
  /** how many programs ran when the keys were replaced */
  onKeysReplaced: (programs: number) => void = () => {};
  programs: () => number = () => 0;
  /** what is stored */
  readonly keys: Map<string, string> = new Map();
  #ids = 0x100;

  /** A Pod begins. Answers why it cannot, in etcd's words. */
  start({ name, volume, initialCluster, initialClusterState, image }: EtcdStart): string | undefined {
    this.images.set(name, image);
    const id = this.volumes.get(volume);
    const entries = initialCluster.split(',').map((entry) => entry.split('='));
    if (id !== undefined) {
      const member = this.members.find((one) => one.id === id);
      if (!member) return `member ${id} has been removed from the cluster`;
      return this.#up(member);
    }
    if (initialClusterState === 'new') {
      if (this.members.length === 0) {
        for (const [, url = ''] of entries) this.#add(url, false);
      }
      const own = this.members.find(({ peerUrl }) => peerUrl === entries.find(([who]) => who === name)?.[1]);
      if (!own) return `couldn't find local name "${name}" in the initial cluster configuration`;
      // the others know it as one that has started: it cannot begin a second time
      if (own.name !== '') return `member ${name} has already been bootstrapped`;
      own.name = name;
      this.volumes.set(volume, own.id);
      return this.#up(own);
    }
    if (entries.length !== this.members.length) {
      return 'error validating peerURLs: member count is unequal';
    }
    const own = this.members.find(({ peerUrl, name: known }) => known === '' && peerUrl.includes(`//${name}.`));
    if (!own) return `member ${name} has already been bootstrapped`;
    own.name = name;
    this.volumes.set(volume, own.id);
    return this.#up(own);
  }

  stop(name: string): void {
    const member = this.members.find((one) => one.name === name);
    if (!member) return;
    member.isUp = false;
    this.#elect();
  }

  /** Whether a Pod's probe succeeds: learners do not answer it. */
  isReady(name: string): boolean {
    const member = this.members.find((one) => one.name === name);
    return member?.isUp === true && !member.isLearner && this.hasQuorum();
  }

  names(): string[] {
    return this.members
      .filter(({ isLearner }) => !isLearner)
      .map(({ name }) => name)
      .sort();
  }

  hasQuorum(): boolean {
    return hasQuorum(this.#views());
  }

  readonly open: OpenPlaneEtcd = async ({ pod }) => {
    const own = this.members.find(({ name }) => name === pod.name);
    if (!own?.isUp) throw new EtcdError(`connect ECONNREFUSED ${pod.name}:2379`);
    return this.#client(own);
  };

  #views() {
    return this.members.map(({ id, name, isLearner, isUp, peerUrl }) => ({
      id,
      name,
      isLearner,
      healthy: isUp,
      peerUrls: [peerUrl],
    }));
  }

  #add(peerUrl: string, isLearner: boolean): Member {
    const member = {
      id: (this.#ids++).toString(16),
      name: '',
      peerUrl,
      isLearner,
      isUp: false,
      dbSize: 100,
      dbSizeInUse: 100,
    };
    this.members.push(member);
    return member;
  }

  #up(member: Member): undefined {
    member.isUp = true;
    this.#elect();
    return undefined;
  }

  #elect(): void {
    const current = this.members.find(({ id }) => id === this.leader);
    if (current?.isUp && this.hasQuorum()) return;
    this.leader = this.hasQuorum() ? this.members.find(({ isUp, isLearner }) => isUp && !isLearner)?.id : undefined;
  }

  #client(own: Member): EtcdAdministrator {
    const agree = (): void => {
      if (!own.isUp) throw new EtcdError('connection closed');
      if (!this.hasQuorum()) throw new EtcdError('etcdserver: request timed out', { status: 14 });
    };
    const find = (id: string): Member => {
      const member = this.members.find((one) => one.id === id);
      if (!member) throw new EtcdError('etcdserver: member not found', { status: 5 });
      return member;
    };
    const note = (text: string): void => {
      this.log.push(text);
      if (!this.hasQuorum()) this.violations.push(text);
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
      alarms: async () => [],
      addLearner: async ([peerUrl = '']) => {
        agree();
        const member = this.#add(peerUrl, true);
        note(`added ${/\/\/([^.]+)/.exec(peerUrl)?.[1]}`);
        return member.id;
      },
      promoteMember: async (id) => {
        agree();
        const member = find(id);
        member.isLearner = false;
        note(`promoted ${member.name}`);
        return this.#shown();
      },
      removeMember: async (id) => {
        agree();
        const member = find(id);
        this.members = this.members.filter((one) => one !== member);
        note(`removed ${member.name}`);
        this.#elect();
        return this.#shown();
      },
      moveLeader: async (id) => {
        agree();
        this.leader = find(id).id;
        note(`leader ${find(id).name}`);
      },
      defragment: async () => {
        own.dbSize = own.dbSizeInUse;
        note(`defragmented ${own.name}`);
      },
      disarm: async () => {},
      snapshot: async (write) => {
        for (const part of this.snapshot) await write(part);
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
          note(`deleted ${count} keys`);
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
