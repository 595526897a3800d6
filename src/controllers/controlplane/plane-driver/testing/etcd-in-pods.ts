import type { FakeEtcd, FakeMember } from '../../etcd-client/testing/fake-etcd.ts';

export interface EtcdStart {
  name: string;
  /** of the volume its data is on */
  volume: string;
  initialCluster: string;
  initialClusterState: string;
}

/** Starts members of etcd in Pods, by the settings they get and the data on their volumes. */
export class EtcdInPods {
  readonly #etcd: FakeEtcd;
  /** volume -> the member whose data is on it */
  readonly #volumes = new Map<string, string>();

  constructor(etcd: FakeEtcd) {
    this.#etcd = etcd;
  }

  /** A Pod begins. Answers why it cannot, in etcd's words. */
  start({ name, volume, initialCluster, initialClusterState }: EtcdStart): string | undefined {
    const { members } = this.#etcd;
    const id = this.#volumes.get(volume);
    const entries = initialCluster.split(',').map((entry) => entry.split('='));
    if (id !== undefined) {
      const member = members.find((one) => one.id === id);
      if (!member) return `member ${id} has been removed from the cluster`;
      return this.#begin(member, name, volume);
    }
    if (initialClusterState === 'new') {
      if (members.length === 0) {
        for (const [, url = ''] of entries) this.#etcd.add(url, false);
      }
      const own = members.find(({ peerUrl }) => peerUrl === entries.find(([who]) => who === name)?.[1]);
      if (!own) return `couldn't find local name "${name}" in the initial cluster configuration`;
      // the others know it as one that has started: it cannot begin a second time
      if (own.name !== '') return `member ${name} has already been bootstrapped`;
      return this.#begin(own, name, volume);
    }
    if (entries.length !== members.length) return 'error validating peerURLs: member count is unequal';
    const own = members.find(({ peerUrl, name: known }) => known === '' && peerUrl.includes(`//${name}.`));
    if (!own) return `member ${name} has already been bootstrapped`;
    return this.#begin(own, name, volume);
  }

  #begin(member: FakeMember, name: string, volume: string): undefined {
    this.#volumes.set(volume, member.id);
    this.#etcd.begin(member, name);
    return undefined;
  }
}
