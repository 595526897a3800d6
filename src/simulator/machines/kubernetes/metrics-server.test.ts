import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiServices } from '../../../api/index.ts';
import { clusterOfApi, type WorkloadCluster } from '../../../simkube/index.ts';
import { chartObjects } from './testing/chart-objects.ts';
import { type NodeInCloud, nodeInCloud } from './testing/node-in-cloud.ts';

let world: NodeInCloud;
let cluster: WorkloadCluster;
beforeAll(async () => {
  world = await nodeInCloud();
  const { tenant, serverId } = world;
  const address = tenant.cloud.machines!.running(serverId)!.addresses[0]!;
  const machine = tenant.cloud.machines!.running(serverId)!;
  cluster = clusterOfApi(tenant.cloud.network.dial(address, 6443, machine).api!)!;
});
afterAll(() => world.close());

interface Measured {
  readonly items: { metadata: { name: string }; usage: { cpu: string; memory: string } }[];
}
const ask = async (path: string): Promise<{ status: number; body: string }> =>
  cluster.aggregation.get('metrics.k8s.io', 'v1beta1', `/apis/metrics.k8s.io/v1beta1${path}`);

describe('metrics-server', () => {
  it('is unavailable before it is installed, and its Service without endpoints shows that', async () => {
    expect(await cluster.aggregation.available()).toEqual([]);
    expect(cluster.aggregation.claims('metrics.k8s.io', 'v1beta1')).toBe(false);
    const objects = chartObjects('metrics-server', {
      tolerations: [{ operator: 'Exists' }],
      readinessProbe: { httpGet: { path: '/readyz', port: 'https', scheme: 'HTTPS' } },
    });
    await world.create(...objects.filter(({ kind }) => kind !== 'Deployment'));
    expect(await ask('/nodes')).toMatchObject({
      status: 503,
      body: expect.stringContaining('have no addresses') as string,
    });
    await world.create(...objects.filter(({ kind }) => kind === 'Deployment'));
  });

  it('answers for its API group once it runs', async () => {
    await world.until('its API is available', async () => (await cluster.aggregation.available()).length === 1);
    await world.until('the APIService says so', async () => {
      const { status } = await world.client.get(ApiServices, { name: 'v1beta1.metrics.k8s.io' });
      return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false;
    });
    const { status, body } = await ask('/nodes');
    expect(status).toBe(200);
    const [node] = (JSON.parse(body) as Measured).items;
    expect(node?.metadata.name).toBe('node-1');
    expect(node?.usage.cpu).toMatch(/^[1-9]\d+n$/);
    expect(node?.usage.memory).toMatch(/^[1-9]\d+Ki$/);
    const pods = JSON.parse((await ask('/namespaces/kube-system/pods')).body) as Measured;
    expect(pods.items.some(({ metadata }) => metadata.name.startsWith('metrics-server'))).toBe(true);
    expect((await ask('/nodes/nobody')).status).toBe(404);
  });
});
