import type { FakeEtcd, FakeMember } from '../../etcd-client/testing/fake-etcd.ts';

export interface EtcdStart {
  name: string;
  /** volume with its data */
  volume: string;
  initialCluster: string;
  initialClusterState: string;
}

/** Starts etcd members in Pods, from their settings and the data on their volumes. */
export class EtcdInPods {
  readonly #etcd: FakeEtcd;
  /** volume -> member with data on it */
  readonly #volumes = new Map<string, string>();

  constructor(etcd: FakeEtcd) {
    this.#etcd = etcd;
  }

  /** Starts a Pod; returns etcd's error message if it cannot start. */
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
      // the others know it as a started member, so it cannot bootstrap again
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
