import { afterEach, describe, expect, it } from 'vitest';
import { Clusters, type KubeadmConfig, KubeadmConfigs, type Secret, Secrets } from '../../../api/index.ts';
import type { JsonObject, Resource, UnstructuredObject } from '../../../machinery/index.ts';
import { legacyConditionOf, ownerReference } from '../../shared/index.ts';
import { definitionOf } from '../../testing/provider-kinds.ts';
import { by, createCluster } from '../../testing/world.ts';
import { MachinePools } from '../common/owner.ts';
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

describe('a KubeadmConfig that cannot be used', () => {
  it('names the missing Secret of a file, and recovers when the Secret appears', async () => {
    await startJoinable();
    await createMachine('w', {
      spec: {
        files: [{ path: '/etc/x', contentFrom: { secret: { name: 'vault', key: 'token' } } }],
        users: [{ name: 'ops', passwdFrom: { secret: { name: 'vault', key: 'hash' } } }],
      },
    });
    await untilSays('w', /^spec\.files \/etc\/x: Secret .*\/vault does not exist; create it$/);
    expect(legacyConditionOf(await config('w'), 'DataSecretAvailable')).toMatchObject({
      reason: 'DataSecretGenerationFailed',
      severity: 'Warning',
    });
    const vault = (stringData: JsonObject) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'vault', namespace: world.namespace },
      stringData,
    });
    await world.client.create(Secrets, vault({ token: 's3cret' }) as Secret, by);
    await untilSays('w', /^spec\.users ops: Secret .*\/vault has no key "hash"; add it$/);
    await world.client.patch(
      Secrets,
      { namespace: world.namespace, name: 'vault' },
      'merge',
      { data: { hash: Buffer.from('$6$salt$hash\n').toString('base64') } },
      by,
    );
    await world.until(() => isReady('w'));
    expect(await fileOf('w', '/etc/x')).toBe('s3cret');
    expect(await userData('w')).toContain('passwd: $6$salt$hash');
  });

  it('reports a broken authority of the user, and uses it unchanged once corrected', async () => {
    await start();
    await createCluster(world);
    const broken = await bringAuthority({ 'tls.crt': Buffer.from('not a certificate').toString('base64') });
    await createMachine('w');
    await untilSays(
      'w',
      /Secret .*\/c1-ca has no PEM certificate in tls\.crt; replace its contents$/,
      'CertificatesAvailable',
    );
    await world.client.delete(Secrets, { namespace: world.namespace, name: 'c1-ca' });
    const corrected = await bringAuthority();
    await world.until(() => isReady('w'));
    expect(corrected.metadata.uid).not.toBe(broken.metadata.uid);
    expect((await world.find(Secrets, 'c1-ca'))?.metadata.ownerReferences).toBeUndefined();
  });

  it.each([
    ['has no version', null, /^Machine w has no spec\.version; set one such as v1\.33\.0/],
    [
      'is of a version kubeadm did not have a known format for',
      'v1.14.10',
      /"v1\.14\.10" has no kubeadm configuration format/,
    ],
  ])('reports that the machine %s', async (_, version, expected) => {
    await startJoinable();
    await createMachine('w', { version });
    await untilSays('w', expected);
    const writes = world.writes();
    await world.pass(hour);
    expect(world.writes()).toBe(writes);
  });

  it('refuses a controlPlane section for a worker', async () => {
    await startJoinable();
    await createMachine('w', {
      spec: { joinConfiguration: { controlPlane: { localAPIEndpoint: { bindPort: 6443 } } } },
    });
    await untilSays('w', /controlPlane is set, but the machine is a worker; remove it$/);
  });
});

describe('a MachinePool', () => {
  const definitions: Resource<UnstructuredObject> = {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
  };

  it('gets a new token in its user data at half the life of the old one', async () => {
    await start();
    const { client, namespace } = world;
    await client.create(definitions, definitionOf(MachinePools), by);
    await world.until(
      async () => (await client.list(MachinePools, { namespace }).catch(() => undefined)) !== undefined,
    );
    await createCluster(world);
    await bringAuthority();
    const pool = await client.create(
      MachinePools,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'MachinePool',
        metadata: { name: 'p', namespace },
        spec: { clusterName: 'c1', template: { spec: { version: 'v1.33.0' } } },
      },
      by,
    );
    await client.patch(
      MachinePools,
      { namespace, name: 'p' },
      'merge',
      { status: { nodeRefs: [{ name: 'n1' }] } },
      { ...by, subresource: 'status' },
    );
    const labels = { 'cluster.x-k8s.io/cluster-name': 'c1' };
    const ownerReferences = [ownerReference(pool, MachinePools, { controller: true })];
    await client.create(
      KubeadmConfigs,
      {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
        kind: 'KubeadmConfig',
        metadata: { name: 'p', namespace, labels, ownerReferences },
        spec: { verbosity: 2 },
      },
      by,
    );
    await world.until(() => isReady('p'));
    const first = await tokenOf('p');
    await world.until(async () => (await tokenOf('p')) !== first);
    const second = (await tokenOf('p')) ?? '';
    await world.until(async () => (await userData('p')).includes(second));
    expect((await tokens()).map((token) => textOf(token, 'token-id'))).toContain(second.split('.')[0]);
  });
});

describe('a KubeadmConfig', () => {
  it('is not acted on while its cluster is paused', async () => {
    await startJoinable();
    await world.client.patch(
      Clusters,
      { namespace: world.namespace, name: 'c1' },
      'merge',
      { spec: { paused: true } },
      by,
    );
    await createMachine('w');
    await world.pass(minute);
    expect(await world.find(Secrets, 'w')).toBeUndefined();
    await world.client.patch(
      Clusters,
      { namespace: world.namespace, name: 'c1' },
      'merge',
      { spec: { paused: null } },
      by,
    );
    await world.until(() => isReady('w'));
  });

  it('restores its status from its machine after a move', async () => {
    await startJoinable({ bootMs: 2 * hour });
    await createMachine('w');
    await world.until(async () => (await machine('w')).spec.bootstrap.dataSecretName === 'w');
    const before = await userData('w');
    await world.client.patch(
      KubeadmConfigs,
      { namespace: world.namespace, name: 'w' },
      'merge',
      { status: null },
      { ...by, subresource: 'status' },
    );
    await world.until(() => isReady('w'));
    expect((await config('w')).status?.dataSecretName).toBe('w');
    expect(await userData('w')).toBe(before);
  });

  it('restores the owner of its data Secret', async () => {
    await startJoinable({ bootMs: 2 * hour });
    await createMachine('w');
    await world.until(() => isReady('w'));
    const key = { namespace: world.namespace, name: 'w' };
    await world.client.patch(Secrets, key, 'merge', { metadata: { ownerReferences: null } }, by);
    await world.until(
      async () => (await world.find(Secrets, 'w'))?.metadata.ownerReferences?.[0]?.kind === 'KubeadmConfig',
    );
  });

  it('keeps the user data of its machine when it is edited later', async () => {
    await startJoinable({ bootMs: 2 * hour });
    await createMachine('w');
    await world.until(() => isReady('w'));
    const before = await userData('w');
    const key = { namespace: world.namespace, name: 'w' };
    await world.client.patch(KubeadmConfigs, key, 'merge', { spec: { preKubeadmCommands: ['late'] } }, by);
    await world.pass(10 * minute);
    expect(await userData('w')).toBe(before);
  });

  it('is not acted on without an owner', async () => {
    await start();
    await createCluster(world);
    await world.client.create(
      KubeadmConfigs,
      {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
        kind: 'KubeadmConfig',
        metadata: { name: 'alone', namespace: world.namespace, labels: { 'cluster.x-k8s.io/cluster-name': 'c1' } },
        // the API accepts a configuration without spec; the type does not
      } as Partial<KubeadmConfig> as KubeadmConfig,
      by,
    );
    await world.pass(minute);
    expect((await config('alone')).status).toBeUndefined();
  });
});
