import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DaemonSets, Nodes, Pods } from '../../../api/index.ts';
import { chartObjects } from './testing/chart-objects.ts';
import { isReady, type NodeInCloud, nodeInCloud } from './testing/node-in-cloud.ts';

let world: NodeInCloud;
beforeAll(async () => {
  world = await nodeInCloud({ cni: 'required' });
});
afterAll(() => world.close());

const nodeReady = async (): Promise<boolean> => isReady(await world.client.get(Nodes, { name: 'node-1' }));
const file = '/etc/cni/net.d/05-cilium.conflist';
const written = (): string | undefined => world.tenant.cloud.machines?.running(world.serverId)?.disk.read(file);

describe('Cilium', () => {
  it('makes its node Ready, and nothing else does', async () => {
    await world.tenant.clock.advance(120_000);
    expect(await nodeReady()).toBe(false);
    const objects = chartObjects('cilium', { operator: { replicas: 1 } });
    await world.create(...objects);
    await world.until('the node is Ready', nodeReady);
    expect(written()).toContain('cilium-cni');
    await world.until('all its Pods are ready', async () => {
      const { items } = await world.client.list(Pods, { labelSelector: 'app.kubernetes.io/part-of=cilium' });
      const isUp = (pod: (typeof items)[number]): boolean =>
        pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
      return items.length === 3 && items.every(isUp);
    });
    expect((await world.client.list(Pods, { labelSelector: 'k8s-app=cilium' })).items).toHaveLength(1);
  });

  it('leaves its node without a network when it is removed', async () => {
    await world.client.delete(DaemonSets, { namespace: 'kube-system', name: 'cilium' });
    await world.until('the node is not Ready', async () => !(await nodeReady()));
    expect(written()).toBeUndefined();
  });
});
