import { readFile } from 'node:fs/promises';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';

/** The bench of the guide, with its one manifest and its one cluster. */
export interface Workbench extends Pick<HostedBench, 'cloud' | 'before' | 'cloudsYaml' | 'kubectl' | 'verb' | 'stop'> {
  /** the documents of the guide's manifest, in the order given */
  apply(order: (documents: readonly string[]) => readonly string[]): Promise<void>;
  /** writes the kubeconfig of the cluster as the guide does, and runs kubectl with it */
  workload(...args: string[]): Promise<string>;
}

/** On a bench of its own, or on one that is there. */
export async function openWorkbench(there?: HostedBench): Promise<Workbench> {
  const bench = there ?? (await openHostedBench());
  return {
    ...bench,
    apply: async (order) => {
      const manifest = await readFile(new URL('testdata/openstack-hcp-cluster.yaml', import.meta.url), 'utf8');
      await bench.apply(order(manifest.split('\n---\n')).join('\n---\n'));
    },
    workload: async (...args) => {
      const cluster = await bench.workload({ namespace: 'hcp-system', name: 'openstack-hcp-cluster' });
      return cluster.kubectl(...args);
    },
  };
}
