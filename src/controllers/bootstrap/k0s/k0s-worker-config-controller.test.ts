import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Clusters, ConfigMaps, K0sWorkerConfigs, Nodes, Secrets } from '../../../api/index.ts';
import { parseRfc3339, statusError } from '../../../machinery/index.ts';
import type { FaultRule } from '../../../runtime/testkit/index.ts';
import { isTrue } from '../../shared/index.ts';
import { FakeControlPlanes } from '../../testing/provider-kinds.ts';
import { by, createCluster } from '../../testing/world.ts';
import {
  bringAuthority,
  config,
  createWorker,
  fileOf,
  hour,
  isReady,
  machine,
  minute,
  start,
  startJoinable,
  textOf,
  tokens,
  untilSays,
  userData,
  world,
} from './testing/k0s-world.ts';

afterEach(() => world.stop());

async function joinKubeconfig(name: string): Promise<unknown> {
  const token = (await fileOf(name, '/etc/k0s.token')) ?? '';
  return parse(gunzipSync(Buffer.from(token, 'base64')).toString('utf8'));
}

describe('a k0s worker', () => {
  it('gets a token known to the cluster, and address and authority of the API', async () => {
    const authority = await startJoinable();
    await createWorker('w', {
      args: ['--enable-cloud-provider', '--kubelet-extra-args="--cloud-provider=external"'],
      secretMetadata: { labels: { team: 'a' }, annotations: { note: 'b' } },
    });
    await world.until(() => isReady('w'));

    const [token] = await tokens();
    const text = `${textOf(token, 'token-id')}.${textOf(token, 'token-secret')}`;
    expect(text).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    for (const usage of ['api-auth', 'authentication', 'api-worker-calls']) {
      expect(textOf(token, `usage-bootstrap-${usage}`)).toBe('true');
    }
    expect(token?.data?.['auth-extra-groups']).toBeUndefined();
    expect(parseRfc3339(textOf(token, 'expiration'))).toBeGreaterThan(world.clock.now() + 23 * hour);
    expect(await joinKubeconfig('w')).toMatchObject({
      clusters: [
        {
          name: 'k0s',
          cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': authority.data?.['tls.crt'] },
        },
      ],
      users: [{ name: 'kubelet-bootstrap', user: { token: text } }],
    });

    const secret = await world.find(Secrets, 'w');
    expect(secret).toMatchObject({
      type: 'cluster.x-k8s.io/secret',
      metadata: {
        labels: { 'cluster.x-k8s.io/cluster-name': 'c1', 'app.kubernetes.io/component': 'bootstrap', team: 'a' },
        annotations: { note: 'b' },
        ownerReferences: [expect.objectContaining({ kind: 'K0sWorkerConfig', name: 'w', controller: true })],
      },
    });
    expect(textOf(secret, 'format')).toBe('cloud-config');
    expect(await userData('w')).toContain('K0S_VERSION=v1.33.0+k0s.0');
    expect(await userData('w')).toContain('"--hostname-override=w --cloud-provider=external"');

    const stored = await config('w');
    expect(stored.status).toMatchObject({ dataSecretName: 'w', initialization: { dataSecretCreated: true } });
    expect(isTrue(stored, 'DataSecretAvailable')).toBe(true);
    expect((await machine('w')).spec.bootstrap.dataSecretName).toBe('w');
  });

  it('trusts both authorities while one replaces the other', async () => {
    const authority = await startJoinable();
    const bundle = Buffer.from('both').toString('base64');
    const key = { namespace: world.namespace, name: 'c1-ca' };
    await world.client.patch(Secrets, key, 'merge', { data: { 'ca-bundle.crt': bundle } }, by);
    expect(authority.data).toBeDefined();
    await createWorker('w');
    await world.until(() => isReady('w'));
    expect(await joinKubeconfig('w')).toMatchObject({
      clusters: [{ cluster: { 'certificate-authority-data': bundle } }],
    });
  });

  it('waits for endpoint, control plane, certificates and API, woken by events', async () => {
    await start();
    world.setWorkloadDown(true);
    await createWorker('w');
    await createCluster(world);
    await untilSays('w', /^WaitingForControlPlaneInitialization: /);
    await world.until(async () => isTrue(await world.find(Clusters, 'c1'), 'ControlPlaneInitialized'));
    await untilSays('w', /Waiting for the API of the cluster: .*ECONNREFUSED/);
    world.setWorkloadDown(false);
    await untilSays('w', /Waiting for the certificates of the Cluster: .*c1-ca does not exist/);
    await bringAuthority();
    await world.until(() => isReady('w'));
  });

  it('renews its token while it boots, and no longer afterwards', async () => {
    await startJoinable({ bootMs: hour, tokenTtlMs: 15 * minute });
    await createWorker('w');
    await world.until(() => isReady('w'));
    const before = await userData('w');
    for (let passed = 0; passed < 5; passed++) {
      await world.pass(10 * minute);
      const [token] = await tokens();
      expect(parseRfc3339(textOf(token, 'expiration'))).toBeGreaterThan(world.clock.now());
    }
    await world.until(async () => (await machine('w')).status?.nodeRef !== undefined, 2 * hour);
    const [kept] = await tokens();
    const writes = world.writes();
    await world.pass(2 * hour);
    expect(world.writes()).toBe(writes);
    expect((await tokens())[0]?.metadata.resourceVersion).toBe(kept?.metadata.resourceVersion);
    expect(await userData('w')).toBe(before);
  });

  it('gets its token created again when the cluster lost it', async () => {
    await startJoinable({ bootMs: hour, tokenTtlMs: 15 * minute });
    await createWorker('w');
    await world.until(() => isReady('w'));
    const [lost] = await tokens();
    await world.workload.delete(Secrets, { namespace: 'kube-system', name: lost?.metadata.name ?? '' });
    await world.until(async () => (await tokens()).length === 1);
    expect((await tokens())[0]).toMatchObject({ metadata: { name: lost?.metadata.name } });
    expect(textOf((await tokens())[0], 'token-secret')).toBe(textOf(lost, 'token-secret'));
  });

  it('uses one token however often writing its user data fails', async () => {
    const faults: FaultRule[] = [];
    await start({ faults });
    await createCluster(world);
    await createWorker('w');
    await untilSays('w', /c1-ca does not exist/);
    faults.push({ verb: 'patch', resource: 'k0sworkerconfigs', error: () => statusError.internal('the disk is full') });
    await bringAuthority();
    await world.until(async () => (await tokens()).length > 0);
    await world.restart();
    await world.pass(minute);
    faults.length = 0;
    await world.until(() => isReady('w'));
    expect(await tokens()).toHaveLength(1);
  });

  it('keeps its user data when the spec changes later', async () => {
    await startJoinable({ bootMs: 2 * hour });
    await createWorker('w');
    await world.until(() => isReady('w'));
    const before = await userData('w');
    const key = { namespace: world.namespace, name: 'w' };
    await world.client.patch(K0sWorkerConfigs, key, 'merge', { spec: { preK0sCommands: ['echo late'] } }, by);
    await world.pass(minute);
    expect(await userData('w')).toBe(before);
  });

  it('does nothing while its cluster is paused', async () => {
    await start();
    await createCluster(world);
    await createWorker('w');
    await untilSays('w', /c1-ca does not exist/);
    const key = { namespace: world.namespace, name: 'c1' };
    await world.client.patch(Clusters, key, 'merge', { spec: { paused: true } }, by);
    await world.until(async () => isTrue(await config('w'), 'Paused'));
    await bringAuthority();
    await world.pass(hour);
    expect(await world.find(Secrets, 'w')).toBeUndefined();
    await world.client.patch(Clusters, key, 'merge', { spec: { paused: null } }, by);
    await world.until(() => isReady('w'));
  });
});

describe('a K0sWorkerConfig that cannot be used', () => {
  it.each([
    [
      'a Secret that is missing',
      { secretRef: { name: 'absent', key: 'k' } },
      /Secret world-\d+\/absent does not exist; create it$/,
    ],
    [
      'a ConfigMap without the key',
      { configMapRef: { name: 'there', key: 'k' } },
      /ConfigMap world-\d+\/there has no key "k"; add it$/,
    ],
  ])('reports the reason, and recovers: %s', async (_, contentFrom, expected) => {
    await startJoinable();
    const { client, namespace } = world;
    const meta = (name: string) => ({ apiVersion: 'v1', metadata: { name, namespace } });
    await client.create(ConfigMaps, { ...meta('there'), kind: 'ConfigMap', data: { other: 'x' } }, by);
    await createWorker('w', { files: [{ path: '/etc/x', contentFrom }] });
    await untilSays('w', new RegExp(`^DataSecretGenerationFailed: spec.files /etc/x: ${expected.source}`));
    await client.create(
      Secrets,
      { ...meta('absent'), kind: 'Secret', data: { k: Buffer.from('y').toString('base64') } },
      by,
    );
    await client.patch(ConfigMaps, { namespace, name: 'there' }, 'merge', { data: { k: 'y' } }, by);
    await world.until(() => isReady('w'));
    expect(await fileOf('w', '/etc/x')).toBe('y');
  });

  it('is refused when newer than the control plane, until that is upgraded', async () => {
    await start();
    await createCluster(world, 'c1', { version: 'v1.33.0' });
    await bringAuthority();
    await createWorker('w', { version: 'v1.34.1+k0s.0' });
    await untilSays(
      'w',
      /^DataSecretGenerationFailed: k0s v1.34.1\+k0s.0 is newer than the control plane, which runs v1.33.0/,
    );
    const key = { namespace: world.namespace, name: 'c1' };
    await world.client.patch(FakeControlPlanes, key, 'merge', { spec: { version: 'v1.34.0' } }, by);
    await world.client.patch(
      FakeControlPlanes,
      key,
      'merge',
      { status: { version: 'v1.34.0' } },
      { ...by, subresource: 'status' },
    );
    await world.until(() => isReady('w'));
  });

  it('is refused on a Windows machine', async () => {
    await startJoinable();
    await createWorker(
      'w',
      { provisioner: { type: 'powershell', platform: 'windows' }, version: 'v1.34.2+k0s.0' },
      'v1.34.2',
    );
    await untilSays('w', /^DataSecretGenerationFailed: .*(windows|newer)/);
  });
});

describe('Nodes without a providerID', () => {
  const join = (name: string, labels: Record<string, string> = {}) =>
    world.workload.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }, by);

  it.each([
    ['by name', 'w', {}],
    ['by label', 'other', { 'k0smotron.io/machine-name': 'w' }],
  ])('get it from their machine, found %s', async (_, name, labels) => {
    await startJoinable({ boot: async () => {} });
    await createWorker('w');
    await world.until(async () => (await machine('w')).spec.providerID !== undefined);
    await join('stranger');
    await join(name, labels);
    await world.until(async () => (await machine('w')).status?.nodeRef?.name === name);
    const node = await world.workload.get(Nodes, { name });
    expect(node.spec?.providerID).toBe((await machine('w')).spec.providerID);
    expect(node.metadata.labels?.['k0smotron.io/machine-name']).toBe('w');
    expect((await world.workload.get(Nodes, { name: 'stranger' })).spec?.providerID).toBeUndefined();
  });

  it('keep a providerID that somebody else set', async () => {
    await startJoinable({ boot: async () => {} });
    await createWorker('w');
    await world.until(async () => (await machine('w')).spec.providerID !== undefined);
    await world.workload.create(
      Nodes,
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'w' }, spec: { providerID: 'fake:///another' } },
      by,
    );
    await world.pass(minute);
    expect((await world.workload.get(Nodes, { name: 'w' })).spec?.providerID).toBe('fake:///another');
  });
});
