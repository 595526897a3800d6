import { describe, expect, it } from 'vitest';
import { ConfigMaps, CronJobs, K0smotronClusters, Pods, Secrets, StatefulSets } from '../../../api/index.ts';
import { isTrue, ownerReference } from '../../shared/index.ts';
import { by } from '../../testing/world.ts';
import { worldsOfTests } from '../plane-driver/testing/hosting-world.ts';
import { clusterName, createK0smotronWorld, type K0smotronWorld } from './testing/k0smotron-world.ts';
import { claimsOf, createUpstreamPlane, resume, upstreamEtcdImage } from './testing/upstream-plane.ts';

const start = worldsOfTests(createK0smotronWorld);
const etcd = `kmc-${clusterName}-etcd`;
const controllers = `kmc-${clusterName}`;
const ownSelector = (component: string) => ({ app: 'k0smotron', cluster: clusterName, component });

const dataOf = async (world: K0smotronWorld, name: string) => (await world.find(Secrets, name))?.data;

/** Waits until the plane is ours and all its Pods come from our StatefulSets. */
const untilOurs = (world: K0smotronWorld): Promise<void> =>
  world.until(async () => {
    const plane = await world.plane();
    if (!isTrue(plane, 'Available') || plane?.status?.updatedReplicas !== 3) return false;
    for (const [name, component] of [
      [etcd, 'etcd'],
      [controllers, 'cluster'],
    ] as const) {
      const set = await world.find(StatefulSets, name);
      const matches = JSON.stringify(set?.spec.selector?.matchLabels) === JSON.stringify(ownSelector(component));
      if (!matches || set?.status?.updatedReplicas !== 3 || set.status.readyReplicas !== 3) return false;
    }
    return isTrue(plane, 'EtcdAvailable');
  });

describe('a control plane of k0smotron’s own program', () => {
  it('continues with its members, claims, authorities and keys', async () => {
    const world = await start();
    await createUpstreamPlane(world);
    const members = world.etcd.members.map(({ id, name }) => `${id} ${name}`);
    const claims = await claimsOf(world);
    const authorities = await Promise.all(
      ['ca', 'etcd', 'proxy', 'sa'].map((end) => dataOf(world, `${clusterName}-${end}`)),
    );
    await resume(world);
    await untilOurs(world);
    expect(world.etcd.members.map(({ id, name }) => `${id} ${name}`)).toEqual(members);
    expect(await claimsOf(world)).toEqual(claims);
    for (const [index, end] of ['ca', 'etcd', 'proxy', 'sa'].entries()) {
      const data = await dataOf(world, `${clusterName}-${end}`);
      expect(data, end).toMatchObject(authorities[index] ?? {});
    }
    expect((await world.find(ConfigMaps, `${etcd}-settings`))?.data).toMatchObject({
      ETCD_INITIAL_CLUSTER_STATE: 'existing',
      image: upstreamEtcdImage,
    });
    const pods = (await world.client.list(Pods, { namespace: world.namespace })).items;
    // the manifest that k0smotron wrote into the spec is mounted once
    const mounted = pods.find(({ metadata }) => metadata.name === `${controllers}-0`)?.spec?.volumes ?? [];
    expect(mounted.filter(({ name }) => name === `kmc-${clusterName}-endpoint`)).toHaveLength(1);
  });

  it('continues when the controllers stopped after they had deleted a StatefulSet', async () => {
    const world = await start();
    await createUpstreamPlane(world);
    const members = world.etcd.members.map(({ id }) => id);
    await resume(world);
    await world.until(async () => (await world.find(ConfigMaps, `${etcd}-settings`)) !== undefined);
    for (const name of [etcd, controllers]) {
      const key = { namespace: world.namespace, name };
      await world.client.delete(StatefulSets, key, { propagationPolicy: 'Orphan' }).catch(() => {});
    }
    await untilOurs(world);
    expect(world.etcd.members.map(({ id }) => id)).toEqual(members);
  });

  it('continues however often the controllers are killed', async () => {
    const world = await start();
    await createUpstreamPlane(world);
    const members = world.etcd.members.map(({ id }) => id);
    const claims = await claimsOf(world);
    await resume(world);
    for (let turn = 0; turn < 25; turn++) {
      await world.pass(turn * 40);
      await world.restart();
    }
    await untilOurs(world);
    expect(world.etcd.members.map(({ id }) => id)).toEqual(members);
    expect(await claimsOf(world)).toEqual(claims);
  });

  it('changes no member while etcd does not answer', async () => {
    const world = await start();
    await createUpstreamPlane(world);
    for (const index of [0, 1, 2]) world.etcd.stop(`${etcd}-${index}`);
    const before = await world.find(StatefulSets, etcd);
    await resume(world);
    await world.until(async () => isTrue(await world.plane(), 'CertificatesAvailable'));
    await world.pass(60_000);
    expect((await world.find(StatefulSets, etcd))?.metadata.uid).toBe(before?.metadata.uid);
    expect(await world.find(ConfigMaps, `${etcd}-settings`)).toBeUndefined();
  });

  it('loses the job that defragments its etcd, because the controllers do that', async () => {
    const world = await start();
    await createUpstreamPlane(world);
    const plane = await world.plane();
    const jobTemplate = {
      spec: { template: { spec: { containers: [{ name: 'etcd-defrag', image: 'x' }], restartPolicy: 'OnFailure' } } },
    };
    await world.client.create(
      CronJobs,
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: {
          name: `${controllers}-defrag`,
          namespace: world.namespace,
          ownerReferences: plane ? [ownerReference(plane, K0smotronClusters, { controller: true })] : [],
        },
        spec: { schedule: '0 12 * * *', jobTemplate },
      },
      by,
    );
    await resume(world);
    await untilOurs(world);
    expect(await world.find(CronJobs, `${controllers}-defrag`)).toBeUndefined();
  });

  it('does not touch the StatefulSet of somebody else', async () => {
    const world = await start();
    await createUpstreamPlane(world);
    const key = { namespace: world.namespace, name: controllers };
    await world.client.patch(StatefulSets, key, 'merge', { metadata: { ownerReferences: null } }, by);
    const before = await world.find(StatefulSets, controllers);
    await resume(world);
    await world.until(async () => isTrue(await world.plane(), 'EtcdAvailable'));
    await world.pass(30_000);
    expect((await world.find(StatefulSets, controllers))?.metadata.uid).toBe(before?.metadata.uid);
  });
});
