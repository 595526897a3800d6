import { describe, expect, it } from 'vitest';
import { Clusters, Deployments, Ingresses, Services, StatefulSets } from '../../../api/index.ts';
import { parseKubeconfig } from '../../../client/index.ts';
import type { OwnEtcdSpec } from '../../../hosting/index.ts';
import { CoreEvents } from '../../../runtime/index.ts';
import { FakeClusters } from '../../testing/provider-kinds.ts';
import { worldsOfTests } from './testing/hosting-world.ts';
import { clusterName, createPlaneWorld } from './testing/plane-world.ts';

const start = worldsOfTests(createPlaneWorld);

describe('a hosted plane', () => {
  it('is created with Service, endpoint, certificates, etcd, programs and kubeconfig', async () => {
    const world = await start();
    await world.untilSettled();
    const report = world.report();
    expect([...report.stages].filter(([, { status }]) => status !== 'True')).toEqual([]);
    expect(report.endpoint).toEqual({ host: '127.65.0.1', port: 6443 });
    expect(report.counts).toEqual({ desired: 2, replicas: 2, ready: 2, available: 2, upToDate: 2 });
    expect(report.runningVersion).toBe('v1.33.1');
    expect(report.etcd).toMatchObject({ members: 3, ready: 3, hasQuorum: true });
    const infrastructure = await world.find(FakeClusters, clusterName);
    expect(infrastructure?.['spec']).toMatchObject({ controlPlaneEndpoint: { host: '127.65.0.1', port: 6443 } });
    expect((await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint).toEqual({
      host: '127.65.0.1',
      port: 6443,
    });
    const kubeconfig = parseKubeconfig((await world.secret('c1-kubeconfig', 'value')) ?? '', 'test');
    expect(kubeconfig.clusters?.[0]?.cluster.server).toBe('https://127.65.0.1:6443');
    expect((await world.find(StatefulSets, 'c1-etcd'))?.spec.replicas).toBe(3);
    expect(world.etcd.violations).toEqual([]);
  });

  it('reports why its load balancer does not come, from the event of its provider, and warns once', async () => {
    const world = await start({ balances: false });
    const { client, namespace } = world;
    const exposure = () => world.report().stages.get('exposure');
    await world.until(async () => (await world.find(Services, 's-c1')) !== undefined);
    const service = (await world.find(Services, 's-c1'))!;
    const event = (name: string, message: string, lastTimestamp: string): Promise<unknown> =>
      client.create(
        CoreEvents,
        {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name, namespace },
          involvedObject: { kind: 'Service', namespace, name: 's-c1', uid: service.metadata.uid ?? '' },
          type: 'Warning',
          reason: 'SyncLoadBalancerFailed',
          message,
          firstTimestamp: lastTimestamp,
          lastTimestamp,
          count: 1,
        } as never,
        { fieldManager: 'test' },
      );
    await event('s-c1.1', 'Error syncing load balancer: no subnet', '2026-01-01T00:00:00Z');
    await event('s-c1.2', 'Error syncing load balancer: Quota exceeded', '2026-01-01T00:00:05Z');
    await world.until(() => exposure()?.reason === 'LoadBalancerFailed');
    expect(exposure()?.message).toBe(
      'Service s-c1 has no load balancer address yet: Error syncing load balancer: Quota exceeded',
    );
    const warnings = async (): Promise<string[]> =>
      (await client.list(CoreEvents, { namespace })).items
        .filter(({ involvedObject }) => involvedObject.kind === 'FakeControlPlane')
        .map(({ reason = '', count = 0 }) => `${reason} ${count}`);
    await world.until(async () => (await warnings()).length > 0);
    await world.pass(120_000);
    expect(await warnings()).toEqual(['LoadBalancerFailed 1']);
  });

  it('writes nothing when nothing changes, even after a restart of the controllers', async () => {
    const world = await start();
    await world.untilSettled();
    await world.pass(1_000);
    const before = world.writes();
    await world.pass(120_000);
    expect(world.writes()).toBe(before);
    await world.restart();
    await world.pass(120_000);
    expect(world.writes()).toBe(before);
  });

  it('waits for a load balancer without polling, and creates etcd meanwhile', async () => {
    const world = await start({ balances: false });
    await world.until(() => world.etcd.hasQuorum());
    expect(world.report().stages.get('exposure')).toMatchObject({ status: 'False', reason: 'WaitingForLoadBalancer' });
    expect(await world.find(Deployments, 'c1-api-server')).toBeUndefined();
    await world.pass(10 * 60_000);
    expect(world.report().stages.get('exposure')?.message).toMatch(/implementation of load balancers/);
    const status = { loadBalancer: { ingress: [{ hostname: 'lb.example.org' }] } };
    await world.client.patch(
      Services,
      { namespace: world.namespace, name: 's-c1' },
      'merge',
      { status },
      { fieldManager: 'test', subresource: 'status' },
    );
    await world.untilSettled();
    expect(world.report().endpoint).toEqual({ host: 'lb.example.org', port: 6443 });
  });

  it('behind an Ingress without a controller reports that it does not answer', async () => {
    const world = await start();
    await world.untilSettled();
    const ingress = { deploy: true, host: 'api.example.org', port: 443, className: 'nginx' };
    await world.desired((desired) => ({ ...desired, exposure: { ...desired.exposure, ingress } }));
    world.setWorkloadDown(true);
    await world.until(() => /Ingress/.test(world.report().stages.get('functional')?.message ?? ''));
    expect(world.report().stages.get('functional')).toMatchObject({
      reason: 'NotAnswering',
      message: expect.stringMatching(/; Ingress c1 of class nginx has no address: .*kubectl get ingressclasses/),
    });
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const key = { namespace: world.namespace, name: 'c1' };
    await world.client.patch(Ingresses, key, 'merge', { status }, { fieldManager: 'test', subresource: 'status' });
    await world.until(() => !/Ingress/.test(world.report().stages.get('functional')?.message ?? ''));
  });

  it('stays unchanged while its spec cannot be fulfilled, reports why, and continues later', async () => {
    const world = await start();
    await world.untilSettled();
    const before = world.writes();
    const members = (count: number): Promise<void> =>
      world.desired((desired) => ({
        ...desired,
        dataStore: { ...(desired.dataStore as OwnEtcdSpec), members: count },
      }));
    await members(2);
    await world.until(() => world.report().stages.get('version')?.status === 'False');
    expect(world.report().stages.get('version')).toMatchObject({
      reason: 'EtcdMembersRefused',
      message: expect.stringContaining('use 1, 3 or 5'),
    });
    expect(world.report().counts.ready).toBe(2);
    await world.pass(60_000);
    expect(world.writes()).toBe(before);
    await members(1);
    await world.untilSettled();
    expect(world.report().etcd).toMatchObject({ members: 1, hasQuorum: true });
  });
});
