import { Gauge, type Registry } from 'prom-client';
import { Clusters, OpenStackClusters, OpenStackMachines, OpenStackServers } from '../../api/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import { clusterCosts } from './cluster-costs.ts';
import type { Prices } from './prices.ts';

const name = 'capstan_cluster_cost_per_hour';

/** Exposes costs as metrics, computed on scrape from cached objects. */
export function showCosts(registry: Registry, reader: CacheReader, prices: Prices): void {
  // after a lost lease, a new manager uses the same registry
  registry.removeSingleMetric(name);
  new Gauge({
    name,
    help: 'What the cloud resources of a cluster cost per hour, by the price table of the operator',
    labelNames: ['namespace', 'cluster', 'part', 'currency'] as const,
    registers: [registry],
    collect() {
      this.reset();
      const costs = clusterCosts(
        {
          clusters: reader.lister(Clusters).list(),
          openStackClusters: reader.lister(OpenStackClusters).list(),
          machines: reader.lister(OpenStackMachines).list(),
          servers: reader.lister(OpenStackServers).list(),
        },
        prices,
      );
      for (const { namespace, name: cluster, controlPlane, workers, volumes, network } of costs) {
        const parts = { control_plane: controlPlane, workers, volumes, network };
        for (const [part, amount] of Object.entries(parts)) {
          this.set({ namespace, cluster, part, currency: prices.currency }, amount);
        }
      }
    },
  });
}
