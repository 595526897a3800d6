import { readFile } from 'node:fs/promises';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';

/** Environment of the guide, with its manifest and its cluster. */
export interface Workbench extends Pick<HostedBench, 'cloud' | 'before' | 'cloudsYaml' | 'kubectl' | 'verb' | 'stop'> {
  /** applies the documents of the guide's manifest in the given order */
  apply(order: (documents: readonly string[]) => readonly string[]): Promise<void>;
  /** writes the kubeconfig of the cluster like the guide, and runs kubectl with it */
  workload(...args: string[]): Promise<string>;
}

/** Uses a new environment, or the given one. */
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
