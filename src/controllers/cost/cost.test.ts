import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Cluster, OpenStackCluster, OpenStackMachine, OpenStackServer } from '../../api/index.ts';
import { CapstanError } from '../../machinery/index.ts';
import { clusterCosts } from './cluster-costs.ts';
import { showCosts } from './cost-metrics.ts';
import { guidePrices, hoursPerMonth, readPrices } from './prices.ts';

const metadata = (name: string, more: object = {}) => ({ name, namespace: 'team', ...more });
const cluster = (name: string, kind: string): Cluster =>
  ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: metadata(name, { labels: { team: 'a' } }),
    spec: {
      controlPlaneRef: { apiGroup: 'g', kind, name },
      infrastructureRef: { apiGroup: 'g', kind: 'OpenStackCluster', name: `${name}-infra` },
    },
  }) as Cluster;
const server = (of: string, name: string, spec: object, status: object = { ready: true, instanceID: name }) =>
  ({
    metadata: metadata(name, { labels: { 'cluster.x-k8s.io/cluster-name': of } }),
    spec,
    status,
  }) as OpenStackServer;
const objects = {
  clusters: [cluster('red', 'KubeadmControlPlane'), cluster('blue', 'KamajiControlPlane')],
  openStackClusters: [
    {
      metadata: metadata('red-infra', {
        annotations: { 'infrastructure.cluster.x-k8s.io/api-floating-ip-id': 'f' },
      }),
      status: { apiServerManagedLoadBalancer: { id: 'l', name: 'l' } },
    } as object as OpenStackCluster,
  ],
  machines: [
    { metadata: metadata('red-cp', { labels: { 'cluster.x-k8s.io/control-plane': '' } }) } as OpenStackMachine,
  ],
  servers: [
    server('red', 'red-cp', { flavor: 'b2-30', rootVolume: { sizeGiB: 50, type: 'ssd' } }),
    server('red', 'red-1', { flavor: 'b2-7' }),
    server('red', 'red-2', { flavor: 'b2-7' }, {}),
    server('blue', 'blue-1', { flavor: 'm1.huge' }),
  ],
};

describe('the cost of clusters', () => {
  it('is the sum of servers, volumes, load balancers and addresses that exist', () => {
    const prices = { ...guidePrices, volumeGiB: { ssd: 0.001, '*': 1 }, floatingIP: 0.5 };
    const [red, blue] = clusterCosts(objects, prices);
    expect(red).toMatchObject({ controlPlane: 0.08, workers: 0.02, volumes: 0.05, hosted: false, servers: 2 });
    expect(red?.network).toBeCloseTo(10 / hoursPerMonth + 0.5);
    expect(red?.total).toBeCloseTo(0.15 + 10 / hoursPerMonth + 0.5);
    expect(blue).toMatchObject({ controlPlane: 0, workers: 0, hosted: true, unpriced: ['flavor m1.huge'] });
  });

  it('is shown in the metrics, also after a new manager registers them again', async () => {
    const registry = new Registry();
    const lists = [objects.clusters, objects.openStackClusters, objects.machines, objects.servers];
    const kinds = ['Cluster', 'OpenStackCluster', 'OpenStackMachine', 'OpenStackServer'];
    const reader = {
      lister: ({ kind }: { kind: string }) => ({ list: () => lists[kinds.indexOf(kind)] ?? [] }),
    } as never;
    showCosts(registry, reader, guidePrices);
    showCosts(registry, reader, guidePrices);
    expect(await registry.metrics()).toContain(
      'capstan_cluster_cost_per_hour{namespace="team",cluster="red",part="control_plane",currency="USD"} 0.08',
    );
  });
});

describe('a price table', () => {
  it('has prices per hour or per month', () => {
    const text = 'currency: EUR\nflavors: {m1.small: 0.01, "*": 0.02}\nloadBalancer: {perMonth: 7.3}\n';
    expect(readPrices(text, 'prices.yaml')).toEqual({
      currency: 'EUR',
      flavors: { 'm1.small': 0.01, '*': 0.02 },
      volumeGiB: {},
      loadBalancer: 0.01,
      floatingIP: 0,
    });
  });

  it.each([
    ['flavors: {a: -1}', 'prices.yaml: flavors.a must be a price'],
    ['flavors: [1]', 'prices.yaml: flavors must be a mapping of names to prices'],
    ['flavour: {}', 'prices.yaml: flavour is not known'],
    ['7', 'prices.yaml: is no mapping'],
    ['loadBalancer: {perYear: 3}', 'prices.yaml: loadBalancer must be a price'],
  ])('is refused with %s', (text, message) => {
    expect(() => readPrices(text, 'prices.yaml')).toThrow(CapstanError);
    expect(() => readPrices(text, 'prices.yaml')).toThrow(message);
  });
});
