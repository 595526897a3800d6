import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ConfigMaps,
  Machines,
  Nodes,
  OpenStackMachines,
  type RKE2ControlPlane,
  RKE2ControlPlanes,
  Secrets,
} from '../../src/api/index.ts';
import type { KubeObject } from '../../src/machinery/index.ts';
import { wrongSpec } from './causes/fault.ts';
import { whyOf, workloadOf } from './causes/runner.ts';
import { type ClusterSpec, controlPlaneName, manifestsOf, namespace } from './cluster-manifests.ts';
import { by, createSystem, type System } from './system.ts';

const minute = 60_000;
const desired: ClusterSpec = {
  name: 'vault',
  index: 0,
  endpoint: 'load-balancer',
  controlPlanes: 3,
  workers: 1,
  version: 'v1.33.6',
  flavor: 'm1.medium',
  bootFromVolume: false,
  healthCheck: false,
  distribution: 'rke2',
};
const restore = 'controlplane.cluster.x-k8s.io/restore';
const plane = { namespace, name: controlPlaneName(desired) };
const kept = { namespace: 'default', name: 'kept' };

// All servers of a cluster are lost, and it comes back from a snapshot in an object store outside of the cloud.
describe('etcd of rke2', { timeout: 120_000 }, () => {
  let system: System;
  let snapshot = '';
  let before: string[] = [];
  beforeAll(async () => {
    system = await createSystem({ seed: 7 });
    const data = { aws_access_key_id: btoa('key'), aws_secret_access_key: btoa('secret') };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bucket', namespace }, data } as KubeObject;
    await system.client.create(Secrets, secret as never, by);
    const s3 = { endpoint: 's3.example.com', bucket: 'vault', s3CredentialSecret: { name: 'bucket' } };
    const backed = wrongSpec(RKE2ControlPlanes, {
      postRKE2Commands: ['rke2 etcd-snapshot save --name by-hand'],
      serverConfig: {
        disableComponents: { kubernetesComponents: ['cloudController'] },
        etcd: { backupConfig: { scheduleCron: '*/10 * * * *', retention: '3', s3 } },
      },
    })(manifestsOf(desired));
    for (const { resource, object } of backed) await system.client.create(resource, object, by);
    await system.pass(20 * minute);
  });
  afterAll(() => system.stop());

  const servers = async (): Promise<string[]> =>
    (await system.client.list(Machines, { namespace })).items
      .filter(({ metadata }) => metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined)
      .map(({ metadata }) => metadata.name ?? '');
  const status = async (): Promise<RKE2ControlPlane['status']> =>
    (await system.client.get(RKE2ControlPlanes, plane)).status;
  const readyNodes = async (): Promise<string[]> =>
    (await (await workloadOf(system, desired.name)).list(Nodes, {})).items
      .filter((node) => node.status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .map(({ metadata }) => metadata.name ?? '');
  const annotate = (value: string | null): Promise<unknown> =>
    system.client.patch(RKE2ControlPlanes, plane, 'merge', { metadata: { annotations: { [restore]: value } } }, by);
  const consoles = async (): Promise<string> => {
    const { items } = await system.client.list(OpenStackMachines, { namespace });
    const ids = items.flatMap((machine) => machine.status?.instanceID ?? []);
    return (await Promise.all(ids.map((id) => system.tenant.compute.servers.consoleOutput(id, { lines: 100 })))).join(
      '\n',
    );
  };

  it('is copied to the object store by every server, and old snapshots go', async () => {
    expect((await status())?.readyReplicas).toBe(3);
    before = await servers();
    const workload = await workloadOf(system, desired.name);
    await workload.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: kept, data: { a: '1' } }, by);
    await system.pass(60 * minute);
    const list = await workload.get(ConfigMaps, { namespace: 'kube-system', name: 'rke2-etcd-snapshots' });
    const inStore = Object.keys(list.data ?? {}).filter((name) => name.startsWith('s3-'));
    for (const server of before) {
      expect(inStore.filter((name) => name.startsWith(`s3-etcd-snapshot-${server}-`))).toHaveLength(3);
    }
    expect(inStore.filter((name) => name.startsWith('s3-by-hand-'))).toHaveLength(3);
    snapshot = (inStore.findLast((name) => name.startsWith('s3-etcd-snapshot-')) ?? '').slice('s3-'.length);
    await workload.create(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...kept, name: 'later' }, data: {} },
      by,
    );
  });

  it.each([
    ['../../etc/passwd', /must be the name of a snapshot/],
    ['a;reboot', /must be the name of a snapshot/],
  ])('is not restored from %s', async (value, message) => {
    await expect(annotate(value)).rejects.toThrow(message);
  });

  it('is restored when all servers are lost and their Machines deleted', async () => {
    const { items } = await system.client.list(OpenStackMachines, { namespace });
    for (const { metadata, status: of } of items) {
      if (before.includes(metadata.name ?? '')) await system.tenant.compute.servers.delete(of?.instanceID ?? '');
    }
    await system.pass(10 * minute);
    await annotate('etcd-snapshot-of-nobody');
    for (const name of before) await system.client.delete(Machines, { namespace, name });
    await system.pass(20 * minute);
    // first a name that does not exist: the server says so and makes no empty cluster
    expect(await servers()).toHaveLength(1);
    expect(await consoles()).toContain('failed to download snapshot etcd-snapshot-of-nobody from S3');
    const why = await whyOf(system, desired.name).catch(() => undefined);
    expect(why?.message).toMatch(/etcd-snapshot-of-nobody.*annotation controlplane\.cluster\.x-k8s\.io\/restore/);

    await annotate(snapshot);
    for (const name of await servers()) await system.client.delete(Machines, { namespace, name });
    await system.pass(30 * minute);
    const workload = await workloadOf(system, desired.name);
    expect((await workload.get(ConfigMaps, kept)).data).toEqual({ a: '1' });
    await expect(workload.get(ConfigMaps, { ...kept, name: 'later' })).rejects.toThrow(/not found/);
    const { metadata, status: now } = await system.client.get(RKE2ControlPlanes, plane);
    expect(metadata.annotations?.['controlplane.cluster.x-k8s.io/restored']).toBe(snapshot);
    expect(now).toMatchObject({ replicas: 3, readyReplicas: 3 });
    expect(await readyNodes()).toEqual(expect.arrayContaining(await servers()));
    expect(await readyNodes()).toHaveLength(4);
  });

  it('is not restored again when the last server is replaced later', async () => {
    const workload = await workloadOf(system, desired.name);
    await workload.create(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...kept, name: 'new' }, data: {} },
      by,
    );
    await system.client.patch(RKE2ControlPlanes, plane, 'merge', { spec: { replicas: 1 } }, by);
    await system.pass(20 * minute);
    const [only = ''] = await servers();
    await system.client.delete(Machines, { namespace, name: only });
    await system.pass(20 * minute);
    expect(await servers()).not.toContain(only);
    expect(await servers()).toHaveLength(1);
    await (await workloadOf(system, desired.name)).get(ConfigMaps, { ...kept, name: 'new' });
  });
});
