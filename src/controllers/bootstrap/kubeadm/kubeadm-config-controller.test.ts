import { afterEach, describe, expect, it } from 'vitest';
import { Clusters, ConfigMaps, KubeadmConfigs, Machines, Secrets } from '../../../api/index.ts';
import { parseRfc3339, statusError } from '../../../machinery/index.ts';
import type { FaultRule } from '../../../runtime/testkit/index.ts';
import { conditionOf, isTrue, legacyConditionOf } from '../../shared/index.ts';
import { FakeClusters, infrastructureGroup } from '../../testing/provider-kinds.ts';
import { by, createCluster } from '../../testing/world.ts';
import {
  bringAuthority,
  config,
  createMachine,
  fileOf,
  hour,
  isReady,
  machine,
  minute,
  start,
  startJoinable,
  textOf,
  tokenOf,
  tokens,
  untilSays,
  userData,
  world,
} from './testing/kubeadm-world.ts';

afterEach(() => world.stop());

describe('a control plane of Machines without a control plane provider', () => {
  it('is initialized by one machine with keys of the cluster, and joined by the others', async () => {
    await start({ bootMs: 5 * minute });
    await createCluster(world, 'c1', { controlPlane: false });
    await createMachine('a', { controlPlane: true });
    await world.until(() => isReady('a'));
    await createMachine('b', { controlPlane: true });
    await createMachine('w');
    await untilSays('b', /^Waiting for Machine a to initialize the control plane$/);
    await untilSays('w', /^Waiting for Cluster control plane to be initialized$/);
    expect(JSON.parse((await world.find(ConfigMaps, 'c1-lock'))?.data?.['lock-information'] ?? '')).toEqual({
      machineName: 'a',
    });

    const cluster = await world.find(Clusters, 'c1');
    for (const purpose of ['ca', 'etcd', 'proxy', 'sa']) {
      const secret = await world.find(Secrets, `c1-${purpose}`);
      expect(secret?.type).toBe('cluster.x-k8s.io/secret');
      expect(secret?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', uid: cluster?.metadata.uid });
    }
    expect(await fileOf('a', '/etc/kubernetes/pki/ca.crt')).toBe(textOf(await world.find(Secrets, 'c1-ca'), 'tls.crt'));
    expect(await fileOf('a', '/run/kubeadm/kubeadm.yaml')).toContain('controlPlaneEndpoint: 127.0.0.1:6443');

    await world.until(async () => (await isReady('b')) && (await isReady('w')));
    expect(await userData('b')).toContain('kubeadm join');
    expect(await fileOf('b', '/run/kubeadm/kubeadm-join-config.yaml')).toContain('controlPlane: {}');
    expect(await fileOf('b', '/etc/kubernetes/pki/sa.key')).toBeDefined();
    expect(await fileOf('w', '/etc/kubernetes/pki/ca.key')).toBeUndefined();
    expect(await world.find(ConfigMaps, 'c1-lock')).toBeUndefined();
  });

  it('is initialized by another machine when the first one is gone', async () => {
    await start({ broken: (name) => name === 'a' });
    await createCluster(world, 'c1', { controlPlane: false });
    await createMachine('a', { controlPlane: true });
    await world.until(() => isReady('a'));
    await createMachine('b', { controlPlane: true });
    await untilSays('b', /^Waiting for Machine a /);
    await world.client.delete(Machines, { namespace: world.namespace, name: 'a' });
    await world.until(() => isReady('b'));
    expect(await userData('b')).toContain('kubeadm init');
  });

  it('is initialized by another machine when the configuration of the first is unusable', async () => {
    await start();
    await createCluster(world, 'c1', { controlPlane: false });
    const files = [{ path: '/etc/x', contentFrom: { secret: { name: 'absent', key: 'value' } } }];
    await createMachine('a', { controlPlane: true, spec: { files } });
    await untilSays('a', /Secret .*\/absent does not exist; create it$/);
    await createMachine('b', { controlPlane: true });
    await world.until(() => isReady('b'));
    expect(await userData('b')).toContain('kubeadm init');
  });
});

describe('a joining machine', () => {
  it('gets token, endpoint and authority hash, and reports it in both forms of conditions', async () => {
    await startJoinable();
    await createMachine('w');
    await world.until(() => isReady('w'));
    const stored = await config('w');
    const discovery = stored.spec.joinConfiguration?.discovery?.bootstrapToken;
    expect(discovery).toMatchObject({
      apiServerEndpoint: '127.0.0.1:6443',
      caCertHashes: [expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
      token: expect.stringMatching(/^[a-z0-9]{6}\.[a-z0-9]{16}$/),
    });
    const [token] = await tokens();
    expect(`${textOf(token, 'token-id')}.${textOf(token, 'token-secret')}`).toBe(discovery?.token);
    expect(textOf(token, 'auth-extra-groups')).toBe('system:bootstrappers:kubeadm:default-node-token');

    const secret = await world.find(Secrets, 'w');
    expect(secret?.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'KubeadmConfig', name: 'w', controller: true }),
    ]);
    expect(secret?.metadata.labels).toMatchObject({ 'cluster.x-k8s.io/cluster-name': 'c1' });
    expect(textOf(secret, 'format')).toBe('cloud-config');
    const join = await fileOf('w', '/run/kubeadm/kubeadm-join-config.yaml');
    expect(join).toContain('key: node.cluster.x-k8s.io/uninitialized');
    // the taint is rendered but not stored
    expect(stored.spec.joinConfiguration?.nodeRegistration).toBeUndefined();

    expect(stored.status).toMatchObject({ dataSecretName: 'w', initialization: { dataSecretCreated: true } });
    for (const type of ['Ready', 'DataSecretAvailable', 'CertificatesAvailable']) {
      expect(isTrue(stored, type)).toBe(true);
      expect(legacyConditionOf(stored, type)?.status).toBe('True');
    }
    expect((await machine('w')).spec.bootstrap.dataSecretName).toBe('w');
  });

  it('renews its token while it boots, and no longer afterwards', async () => {
    await startJoinable({ bootMs: 2 * hour });
    await createMachine('w');
    await world.until(() => isReady('w'));
    for (let passed = 0; passed < 6; passed++) {
      await world.pass(15 * minute);
      const [token] = await tokens();
      expect(parseRfc3339(textOf(token, 'expiration'))).toBeGreaterThan(world.clock.now());
    }
    await world.until(async () => (await machine('w')).status?.nodeRef !== undefined, 3 * hour);
    const [before] = await tokens();
    const writes = world.writes();
    await world.pass(3 * hour);
    expect(world.writes()).toBe(writes);
    expect((await tokens())[0]?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });

  it('gets its token created again when the cluster lost it', async () => {
    await startJoinable({ bootMs: 2 * hour });
    await createMachine('w');
    await world.until(() => isReady('w'));
    const [lost] = await tokens();
    await world.workload.delete(Secrets, { namespace: 'kube-system', name: lost?.metadata.name ?? '' });
    await world.until(async () => (await tokens()).length === 1);
    expect((await tokens())[0]?.metadata.name).toBe(lost?.metadata.name);
  });

  it('reads the Secrets of its cluster from the cache', async () => {
    const faults: FaultRule[] = [];
    await startJoinable({ faults });
    const ofCluster = { metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'c1' } } };
    await world.client.patch(Secrets, { namespace: world.namespace, name: 'c1-ca' }, 'merge', ofCluster, by);
    await createMachine('v');
    await world.until(() => isReady('v'));
    faults.push({ verb: 'get', resource: 'secrets', error: () => statusError.internal('Secrets cannot be requested') });
    await createMachine('w');
    await world.until(() => isReady('w'));
    // user data that exists is looked at again with every change of the Machine
    const labels = { metadata: { labels: { changed: 'yes' } } };
    await world.client.patch(KubeadmConfigs, { namespace: world.namespace, name: 'w' }, 'merge', labels, by);
    await world.pass(minute);
    expect(await isReady('w')).toBe(true);
    expect(world.entries.filter(({ message }) => message === 'Reconcile failed')).toEqual([]);
  });

  it('uses one token however often writing the user data fails', async () => {
    const refused: FaultRule = {
      verb: 'create',
      resource: 'secrets',
      error: () => statusError.internal('the disk is full'),
    };
    const faults = [refused];
    await startJoinable({ faults });
    await createMachine('w');
    await untilSays('w', /the disk is full/);
    const recorded = await tokenOf('w');
    await world.restart();
    await world.pass(minute);
    faults.length = 0;
    await world.until(() => isReady('w'));
    expect(await tokenOf('w')).toBe(recorded);
    expect(await tokens()).toHaveLength(1);
  });

  it('gets the same user data again when its Secret is lost before it booted', async () => {
    await startJoinable({ bootMs: 2 * hour });
    await createMachine('w');
    await world.until(() => isReady('w'));
    const before = await userData('w');
    await world.client.delete(Secrets, { namespace: world.namespace, name: 'w' });
    await world.until(async () => (await world.find(Secrets, 'w')) !== undefined);
    expect(await userData('w')).toBe(before);
  });

  it('waits for a workload API that does not answer', async () => {
    await start();
    world.setWorkloadDown(true);
    await createCluster(world);
    await bringAuthority();
    await createMachine('w');
    await untilSays('w', /^Waiting for the API of the cluster: .*ECONNREFUSED/);
    world.setWorkloadDown(false);
    await world.until(() => isReady('w'));
  });

  it('waits for the infrastructure of the cluster, and continues by itself', async () => {
    await start();
    const { client, namespace } = world;
    await client.create(
      Clusters,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name: 'c1', namespace },
        spec: { infrastructureRef: { apiGroup: infrastructureGroup, kind: 'FakeCluster', name: 'c1' } },
      },
      by,
    );
    await createMachine('a', { controlPlane: true });
    await untilSays('a', /^Waiting for Cluster status\.initialization\.infrastructureProvisioned to be true$/);
    expect(legacyConditionOf(await config('a'), 'DataSecretAvailable')?.reason).toBe('WaitingForClusterInfrastructure');
    expect(conditionOf(await config('a'), 'Ready')?.status).toBe('False');
    await client.create(
      FakeClusters,
      { apiVersion: `${infrastructureGroup}/v1`, kind: 'FakeCluster', metadata: { name: 'c1', namespace }, spec: {} },
      by,
    );
    await world.until(() => isReady('a'));
  });
});
