import { describe, expect, it } from 'vitest';
import { JoinTokenRequests, K0smotronClusters, Secrets } from '../../../api/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import { conditionOf, isTrue, secretText } from '../../shared/index.ts';
import { by } from '../../testing/world.ts';
import { worldsOfTests } from '../plane-driver/testing/hosting-world.ts';
import { tokenInside } from './join-token.ts';
import {
  clusterName,
  createK0smotronWorld,
  createPlane,
  guideSpec,
  type K0smotronWorld,
} from './testing/k0smotron-world.ts';

const start = worldsOfTests(createK0smotronWorld);

const untilAvailable = (world: K0smotronWorld): Promise<void> =>
  world.until(async () => {
    const plane = await world.plane();
    return isTrue(plane, 'Available') && plane?.status?.readyReplicas === plane?.spec.replicas;
  });

describe('a K0smotronCluster without a Cluster', () => {
  it('becomes available and fills in its own status', async () => {
    const world = await start();
    await createPlane(world, guideSpec);
    await untilAvailable(world);
    const plane = await world.plane();
    expect(plane?.status).toMatchObject({
      replicas: 1,
      readyReplicas: 1,
      updatedReplicas: 1,
      selector: 'app=k0smotron,cluster=c1,component=cluster',
      deprecated: { v1beta1: { ready: true, reconciliationStatus: 'Reconciliation successful' } },
    });
    for (const type of [
      'CertificatesAvailable',
      'ControlPlaneExposed',
      'KubeconfigSecretAvailable',
      'ControlPlaneFunctional',
      'ControlPlaneUpToDate',
      'EtcdAvailable',
    ]) {
      expect(conditionOf(plane, type)?.status, type).toBe('True');
    }
    expect(conditionOf(plane, 'CertificatesAvailable')?.message).toMatch(/^the first to expire is Secret c1-/);
    expect(isTrue(plane, 'ControlPlaneScaling')).toBe(false);
    // the user set no address
    expect(plane?.spec.externalAddress).toBeUndefined();
  });

  it('is refused with a condition when its spec is not supported', async () => {
    const world = await start();
    const kubeconfigRef = { name: 'other', namespace: 'default', key: 'value' };
    await createPlane(world, { ...guideSpec, remoteHostCluster: { kubeconfigRef } });
    await world.until(
      async () => conditionOf(await world.plane(), 'Available')?.reason === 'RemoteHostClusterNotSupported',
    );
    expect(await world.find(Secrets, 'c1-ca')).toBeUndefined();
  });

  it('deletes everything it created when it is deleted', async () => {
    const world = await start();
    await createPlane(world, guideSpec);
    await untilAvailable(world);
    await world.client.delete(K0smotronClusters, { namespace: world.namespace, name: clusterName });
    await world.until(async () => (await world.plane()) === undefined);
  });
});

describe('a JoinTokenRequest', () => {
  const ask = (world: K0smotronWorld, spec: object = {}) =>
    world.client.create(
      JoinTokenRequests,
      {
        apiVersion: 'k0smotron.io/v1beta2',
        kind: 'JoinTokenRequest',
        metadata: { name: 'edge', namespace: world.namespace },
        spec: { clusterName, ...spec },
      },
      by,
    );
  const request = (world: K0smotronWorld) => world.find(JoinTokenRequests, 'edge');
  const untilCreated = (world: K0smotronWorld): Promise<void> =>
    world.until(async () => isTrue(await request(world), 'JoinTokenSecretCreated'));
  const tokens = async (world: K0smotronWorld) =>
    (await world.workload.list(Secrets, { namespace: 'kube-system' })).items.filter(({ metadata }) =>
      metadata.name?.startsWith('bootstrap-token-'),
    );

  it('waits for its cluster, and gets a token known to the cluster', async () => {
    const world = await start();
    await ask(world, { expiry: '2h' });
    await world.until(
      async () => conditionOf(await request(world), 'JoinTokenSecretCreated')?.reason === 'ClusterNotFound',
    );
    await createPlane(world, guideSpec);
    await untilCreated(world);
    const secret = await world.find(Secrets, 'edge');
    expect(secret?.metadata.labels).toMatchObject({
      'k0smotron.io/cluster': clusterName,
      'k0smotron.io/role': 'worker',
      'k0smotron.io/token-request': 'edge',
    });
    const inside = tokenInside(secretText(secret, 'token') ?? '');
    const [token, ...others] = await tokens(world);
    expect(others).toEqual([]);
    expect((await request(world))?.status?.tokenID).toBe(inside?.id);
    expect(secretText(token, 'token-secret')).toBe(inside?.secret);
    expect(parseRfc3339(secretText(token, 'expiration') ?? '')).toBeGreaterThan(world.clock.now());
  });

  it('creates a token without expiry by default, which is deleted with the request', async () => {
    const world = await start();
    await createPlane(world, guideSpec);
    await ask(world, { role: 'controller' });
    await untilCreated(world);
    const [token] = await tokens(world);
    expect(secretText(token, 'expiration')).toBeUndefined();
    expect(secretText(token, 'usage-controller-join')).toBe('true');
    await world.client.delete(JoinTokenRequests, { namespace: world.namespace, name: 'edge' });
    await world.until(async () => (await request(world)) === undefined);
    expect(await tokens(world)).toEqual([]);
  });
});
