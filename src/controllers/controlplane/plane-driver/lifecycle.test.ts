import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  Clusters,
  ConfigMaps,
  Deployments,
  Namespaces,
  Nodes,
  PersistentVolumeClaims,
  Pods,
  ReferenceGrants,
  type Secret,
  Secrets,
  Services,
  StatefulSets,
} from '../../../api/index.ts';
import { kubernetesImages, type OwnEtcdSpec, type PlaneSpec } from '../../../hosting/index.ts';
import { isMatchingPair, splitCertificates } from '../../../pki/index.ts';
import { controlPlaneGroup, FakeClusters, FakeControlPlanes } from '../../testing/provider-kinds.ts';
import { worldsOfTests } from './testing/hosting-world.ts';
import { clusterName, createPlaneWorld, type PlaneWorld } from './testing/plane-world.ts';
import type { PlaneRequest } from './types.ts';

const by = { fieldManager: 'test' };
/** Real file access takes real time, during which simulated time runs on. */
const filesMs = 24 * 3_600_000;
const start = worldsOfTests(createPlaneWorld);

const withEtcd =
  (change: Partial<OwnEtcdSpec>) =>
  (desired: PlaneSpec): PlaneSpec => ({ ...desired, dataStore: { ...(desired.dataStore as OwnEtcdSpec), ...change } });
const members = (count: number) => withEtcd({ members: count });
const atVersion =
  (version: string) =>
  (desired: PlaneSpec): PlaneSpec => ({
    ...desired,
    version,
    images: { ...desired.images, ...kubernetesImages(version) },
  });
const secretOf = async (world: PlaneWorld, name: string, key: string): Promise<string> => {
  const text = await world.secret(name, key);
  if (text === undefined) throw new Error(`Secret ${name} has no ${key}`);
  return text;
};

/** Yields a Secret and each later version of it. */
async function everyVersion(world: PlaneWorld, name: string, signal: AbortSignal): Promise<Secret[]> {
  const { client, namespace } = world;
  const first = await client.get(Secrets, { namespace, name });
  const versions = [first];
  const { resourceVersion = '' } = first.metadata;
  try {
    const events = client.watch(Secrets, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      signal,
    });
    for await (const { object } of events) versions.push(object);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return versions;
}

describe('the etcd of a hosted plane', () => {
  it('scales up and down by membership changes', async () => {
    const world = await start();
    const becomes = async (count: number): Promise<void> => {
      await world.desired(members(count));
      await world.until(() => world.etcd.voters().length === count);
      await world.untilSettled();
      await world.until(async () => (await world.find(StatefulSets, 'c1-etcd'))?.status?.readyReplicas === count);
    };
    await becomes(1);
    expect(world.etcd.voters()).toEqual(['c1-etcd-0']);
    await becomes(3);
    expect(world.etcd.log.slice(-4)).toEqual([
      'added c1-etcd-1',
      'promoted c1-etcd-1',
      'added c1-etcd-2',
      'promoted c1-etcd-2',
    ]);
    await becomes(1);
    await becomes(3);
    expect(world.etcd.voters()).toEqual(['c1-etcd-0', 'c1-etcd-1', 'c1-etcd-2']);
    expect(world.etcd.violations).toEqual([]);
  });

  it('replaces a member whose volume is gone', async () => {
    const world = await start();
    await world.untilSettled();
    const { namespace } = world;
    world.etcd.log.length = 0;
    await world.client.delete(PersistentVolumeClaims, { namespace, name: 'etcd-data-c1-etcd-1' });
    await world.client.delete(Pods, { namespace, name: 'c1-etcd-1' });
    await world.until(() => world.etcd.log.includes('promoted c1-etcd-1'));
    await world.untilSettled();
    expect(world.etcd.log).toEqual(['removed c1-etcd-1', 'added c1-etcd-1', 'promoted c1-etcd-1']);
    expect(world.etcd.violations).toEqual([]);
  });

  it('is defragmented member by member, the leader last', async () => {
    const world = await start();
    await world.untilSettled();
    for (const member of world.etcd.members) Object.assign(member, { dbSize: 1000, dbSizeInUse: 100 });
    const leader = world.etcd.members.find(({ id }) => id === world.etcd.leader);
    // a file that does not shrink is not defragmented again
    Object.defineProperty(leader, 'dbSize', { get: () => 1000, set: () => {} });
    await world.desired(withEtcd({ defragment: { fragmentation: 0.5 } }));
    await world.until(() => world.etcd.log.includes(`defragmented ${leader?.name}`));
    await world.untilSettled();
    await world.pass(60_000);
    const tidied = world.etcd.log.filter((line) => line.startsWith('defragmented'));
    expect(tidied).toHaveLength(3);
    expect(tidied.at(-1)).toBe(`defragmented ${leader?.name}`);
    expect(world.etcd.violations).toEqual([]);
  });
});

describe('a defragmentation rule of the user', () => {
  it('has every member checked and defragmented once per scheduled time', async () => {
    const world = await start();
    await world.untilSettled();
    await world.desired(withEtcd({ defragment: { schedule: '30 * * * *', rule: 'dbSize > 100' } }));
    for (const member of world.etcd.members) Object.assign(member, { dbSize: 100, dbSizeInUse: 100 });
    const tidied = () => world.etcd.log.filter((line) => line.startsWith('defragmented'));
    await world.pass(2 * 3_600_000);
    expect(tidied()).toEqual([]);
    for (const member of world.etcd.members) {
      Object.defineProperty(member, 'dbSize', { get: () => 1000, set: () => {} });
    }
    await world.until(() => tidied().length === 3, 2 * 3_600_000);
    expect(new Date(world.clock.now()).getUTCMinutes()).toBeGreaterThanOrEqual(30);
    await world.pass(30 * 60_000);
    expect(new Set(tidied()).size).toBe(3);
    expect(tidied()).toHaveLength(3);
  });
});

describe('a running hosted plane', () => {
  it('is upgraded by one minor version, and refuses to skip one or to go back', async () => {
    const world = await start();
    await world.untilSettled();
    await world.desired(atVersion('v1.35.0'));
    await world.until(() => world.report().stages.get('version')?.status === 'False');
    expect(world.report().stages.get('version')).toMatchObject({ reason: 'VersionJump' });
    // the old version keeps running
    expect(world.report().counts).toMatchObject({ ready: 2, upToDate: 0 });
    expect(world.report().runningVersion).toBe('v1.33.1');
    await world.desired(atVersion('v1.34.2'));
    await world.until(() => world.report().isSettled && world.report().runningVersion === 'v1.34.2');
    await world.desired(atVersion('v1.33.1'));
    await world.until(() => world.report().stages.get('version')?.reason === 'VersionDowngrade');
    const pods = (await world.list(Pods)).flatMap(({ spec }) => spec?.containers ?? []);
    expect(pods.some(({ image }) => image === 'registry.k8s.io/kube-apiserver:v1.34.2')).toBe(true);
  });

  it('hibernates with all its data, and starts again', async () => {
    const world = await start();
    await world.untilSettled();
    await world.desired((desired) => ({ ...desired, replicas: 0 }));
    await world.until(async () => (await world.list(Pods)).length === 0);
    expect((await world.list(PersistentVolumeClaims)).length).toBe(3);
    expect(world.report().stages.get('workloads')).toMatchObject({ status: 'True', reason: 'Hibernated' });
    const asleep = world.reports().length;
    await world.desired((desired) => desired);
    await world.until(() => world.report().counts.desired === 2);
    await world.untilSettled();
    // a connection from before hibernation does not prove that the API answers
    const waking = world
      .reports()
      .slice(asleep)
      .find(({ counts }) => counts.desired === 2);
    expect(waking).toMatchObject({ isFunctional: false, counts: { ready: 0 } });
    expect(world.etcd.log.filter((line) => line.startsWith('removed'))).toEqual([]);
    expect(world.report().counts.ready).toBe(2);
  });

  it('restores what somebody changed or deleted, and keeps foreign fields', async () => {
    const world = await start();
    await world.untilSettled();
    const { client, namespace } = world;
    const key = { namespace, name: 'c1-api-server' };
    await client.patch(Deployments, key, 'merge', { spec: { replicas: 7 }, metadata: { labels: { mine: 'yes' } } }, by);
    await client.delete(Services, { namespace, name: 'e-c1-etcd' });
    await client.delete(Secrets, { namespace, name: 'c1-kubeconfig' });
    await world.until(async () => (await world.find(Deployments, 'c1-api-server'))?.spec.replicas === 2);
    await world.until(async () => (await world.find(Services, 'e-c1-etcd')) !== undefined);
    await world.until(async () => (await world.secret('c1-kubeconfig', 'value')) !== undefined);
    expect((await world.find(Deployments, 'c1-api-server'))?.metadata.labels?.['mine']).toBe('yes');
  });

  it('reports which Pod fails and its message', async () => {
    const world = await start({ broken: 'flag provided but not defined: -oops' });
    await world.until(() => /oops/.test(world.report().stages.get('workloads')?.message ?? ''));
    expect(world.report().stages.get('workloads')).toMatchObject({ status: 'False', reason: 'RollingOut' });
  });

  it('writes backups by schedule, and reports the last and the next', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-plane-'));
    try {
      const world = await start({ backupDirectory: directory });
      await world.untilSettled();
      await world.desired((desired) => ({
        ...desired,
        backup: { schedule: '0 * * * *', target: { type: 'directory' } },
      }));
      await world.until(() => world.report().stages.get('backup') !== undefined);
      expect(world.report().stages.get('backup')).toMatchObject({
        status: 'Unknown',
        reason: 'NoBackupYet',
        message: expect.stringMatching(/^the first backup is due at .*:00:00Z$/),
      });
      await world.until(async () => {
        // yield to real file access
        await new Promise((resolve) => setImmediate(resolve));
        return world.report().backup?.lastName !== undefined;
      }, 3 * 3_600_000);
      const { lastName = '', nextMs = 0, lastMs = 0 } = world.report().backup ?? {};
      expect(await readFile(join(directory, lastName), 'utf8')).toBe('snapshot of everything');
      expect(nextMs - lastMs).toBeLessThanOrEqual(3_600_000);
      expect(world.report().stages.get('backup')).toMatchObject({ status: 'True', reason: 'BackedUp' });
      await world.desired((desired) => ({ ...desired, backup: { schedule: 'now', target: { type: 'directory' } } }));
      await world.until(() => world.report().stages.get('backup')?.reason === 'ScheduleRefused');
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('restores a backup while its programs are stopped', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-restore-'));
    try {
      const world = await start({ backupDirectory: directory });
      const own = join(directory, world.namespace, 'c1');
      await mkdir(own, { recursive: true });
      await writeFile(join(own, 'made-by-hand.etcd'), 'KEYS /registry/configmaps/a /registry/events/b');
      world.etcd.keys.set('/registry/configmaps/broken', 'x');
      const target = { type: 'directory' } as const;
      await world.desired((desired) => ({ ...desired, backup: { schedule: '@yearly', target } }));
      await world.untilSettled();
      const seen = new Set<number>();
      world.etcd.onKeysReplaced = (pods) => seen.add(pods);
      await world.ask({ restore: { backup: 'made-by-hand.etcd', token: 'now' } });
      await world.until(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return world.report().stages.get('restore')?.reason === 'Restored' && world.report().isSettled;
      }, filesMs);
      // keys with a lease are not restored
      expect([...world.etcd.keys.keys()]).toEqual(['/registry/configmaps/a']);
      expect([...seen]).toEqual([0]);
      await world.ask({ restore: { backup: 'nothing.etcd', token: 'again' } });
      await world.until(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return world.report().stages.get('restore')?.reason === 'RestoreFailed';
      }, filesMs);
      expect(world.report().stages.get('restore')?.message).toBe('there is no backup nothing.etcd in the store');
      expect(world.etcd.keys.size).toBe(1);
      // a missing backup stops nothing
      expect(world.report().counts.ready).toBe(2);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('refuses a backup of another namespace without a ReferenceGrant there, whatever its name', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-restore-'));
    try {
      const world = await start({ backupDirectory: directory });
      const { client, namespace } = world;
      await mkdir(join(directory, 'other', 'plane'), { recursive: true });
      await writeFile(join(directory, 'other', 'plane', 'a.etcd'), 'KEYS /registry/secrets/theirs');
      world.etcd.keys.set('/registry/configmaps/mine', 'x');
      const target = { type: 'directory' } as const;
      await world.desired((desired) => ({ ...desired, backup: { schedule: '@yearly', target } }));
      await world.untilSettled();
      const outcome = async (restore: NonNullable<PlaneRequest['restore']>, reason: string): Promise<string> => {
        await world.ask({ restore });
        await world.until(async () => {
          await new Promise((resolve) => setImmediate(resolve));
          const verdict = world.report().stages.get('restore');
          return verdict?.reason === reason && world.report().isFunctional;
        }, filesMs);
        expect([...world.etcd.keys.keys()]).toEqual(['/registry/configmaps/mine']);
        return world.report().stages.get('restore')?.message ?? '';
      };
      for (const backup of ['other/plane/a.etcd', '../../other/plane/a.etcd', `../plane/a.etcd`]) {
        expect(await outcome({ backup, token: backup }, 'RestoreFailed')).toBe(
          `there is no backup ${backup} in the store`,
        );
      }
      const from = { namespace: 'other', name: 'plane' };
      const refused = await outcome({ backup: 'latest', from, token: '2' }, 'RestoreRefused');
      expect(refused).toBe(
        'latest is not restored: FakeControlPlane other/plane is in another namespace, and no ReferenceGrant there lets ' +
          `FakeControlPlane objects (group ${controlPlaneGroup}) of namespace ${namespace} refer to it`,
      );
      await client.create(
        Namespaces,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } },
        { fieldManager: 'test' },
      );
      const kind = { group: controlPlaneGroup, kind: 'FakeControlPlane' };
      await client.create(
        ReferenceGrants,
        {
          apiVersion: 'gateway.networking.k8s.io/v1',
          kind: 'ReferenceGrant',
          metadata: { name: 'backups', namespace: 'other' },
          spec: { from: [{ ...kind, namespace }], to: [{ ...kind, name: 'plane' }] },
        },
        { fieldManager: 'test' },
      );
      await world.until(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return world.report().stages.get('restore')?.reason === 'Restored';
      }, filesMs);
      expect([...world.etcd.keys.keys()]).toEqual(['/registry/secrets/theirs']);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

describe('a hosted plane that starts from a backup', () => {
  it('does not start empty while the backup is unavailable', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-begin-'));
    try {
      const target = { type: 'directory' } as const;
      const world = await start({
        backupDirectory: directory,
        desired: (desired) => ({ ...desired, backup: { schedule: '@yearly', target } }),
        request: { restore: { backup: 'first.etcd', token: '1' } },
      });
      const restore = () => world.report().stages.get('restore');
      const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
      await world.until(async () => {
        await turn();
        return restore()?.reason === 'RestoreFailed' && world.etcd.hasQuorum();
      }, filesMs);
      await world.pass(30_000);
      expect((await world.list(Pods)).filter(({ metadata }) => metadata.name?.startsWith('c1-api-server'))).toEqual([]);
      const own = join(directory, world.namespace, 'c1');
      await mkdir(own, { recursive: true });
      await writeFile(join(own, 'first.etcd'), 'KEYS /registry/configmaps/a');
      await world.until(async () => {
        await turn();
        return restore()?.reason === 'Restored' && world.report().isSettled;
      }, filesMs);
      expect([...world.etcd.keys.keys()]).toEqual(['/registry/configmaps/a']);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

describe('the credentials of a hosted plane', () => {
  it('are renewed before they expire by the same authority', async () => {
    const world = await start();
    const minuteMs = 60_000;
    await world.desired((desired) => ({
      ...desired,
      certificates: { ...desired.certificates, leafDurationMs: 40 * minuteMs, leafRenewBeforeMs: 10 * minuteMs },
    }));
    await world.client.delete(Secrets, { namespace: world.namespace, name: 'c1-apiserver' });
    const endOf = (): number =>
      world.report().certificates.find(({ credential }) => credential === 'apiserver')?.expiresAt ?? 0;
    await world.until(() => world.report().isSettled && endOf() - world.clock.now() < 60 * minuteMs);
    const before = await secretOf(world, 'c1-apiserver', 'tls.crt');
    const authority = await secretOf(world, 'c1-ca', 'tls.crt');
    const first = endOf();
    await world.until(() => endOf() !== first, 60 * minuteMs);
    expect(first - world.clock.now()).toBeGreaterThan(9 * minuteMs);
    await world.untilSettled();
    expect(await secretOf(world, 'c1-apiserver', 'tls.crt')).not.toBe(before);
    expect(await secretOf(world, 'c1-ca', 'tls.crt')).toBe(authority);
  });

  it('get a new authority in steps that keep every peer trusted', async () => {
    const world = await start();
    await world.untilSettled();
    const old = await secretOf(world, 'c1-ca', 'tls.crt');
    const stop = new AbortController();
    const versions = everyVersion(world, 'c1-ca', stop.signal);
    await world.ask({ rotate: [{ what: 'ca', token: 'please' }] });
    await world.until(async () => {
      const isNew = (await secretOf(world, 'c1-ca', 'tls.crt')) !== old;
      return isNew && world.report().isSettled && world.report().rotations.length === 0;
    });
    stop.abort();
    const bundles: string[][] = [];
    for (const { data } of await versions) {
      const text = (key: string): string => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
      const bundle = splitCertificates(text('ca.crt'));
      // the signing CA is trusted at every moment
      expect(bundle[0]).toBe(text('tls.crt'));
      if (JSON.stringify(bundles.at(-1)) !== JSON.stringify(bundle)) bundles.push(bundle);
    }
    expect(bundles.map((bundle) => bundle.length)).toEqual([1, 2, 2, 1]);
    expect(bundles[1]?.[0]).toBe(bundles[2]?.[1]);
    const authority = await secretOf(world, 'c1-ca', 'tls.crt');
    const chain = splitCertificates(await secretOf(world, 'c1-apiserver', 'tls.crt'));
    const key = await secretOf(world, 'c1-apiserver', 'tls.key');
    expect(isMatchingPair(chain[0] ?? '', key, authority)).toBe(true);
    // clients that trust only the old CA validate through the cross certificate
    expect(chain).toHaveLength(2);
    await world.pass(60_000);
    expect(await secretOf(world, 'c1-ca', 'tls.crt')).toBe(authority);
  });

  it('keep trusting the old authority while a Node may present its certificates', async () => {
    const world = await start();
    await world.untilSettled();
    await world.workload.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'old' } }, by);
    const old = await secretOf(world, 'c1-ca', 'tls.crt');
    await world.ask({ rotate: [{ what: 'ca', token: 'please' }] });
    await world.until(async () => (await secretOf(world, 'c1-ca', 'tls.crt')) !== old);
    await world.until(() => world.report().rotations[0] === 'ca: what the old one signed may still be shown');
    const bundle = async () => splitCertificates(await secretOf(world, 'c1-ca', 'ca.crt')).length;
    await world.pass(2 * 3_600_000);
    expect(await bundle()).toBe(2);
    await world.workload.delete(Nodes, { name: 'old' });
    await world.until(() => world.report().rotations.length === 0);
    await world.untilSettled();
    expect(await bundle()).toBe(1);
  });

  it('get a new service account key while tokens of the old one stay valid for a day', async () => {
    const world = await start();
    await world.untilSettled();
    const key = await secretOf(world, 'c1-service-account', 'tls.key');
    await world.ask({ rotate: [{ what: 'sa', token: '1' }] });
    await world.until(async () => (await secretOf(world, 'c1-service-account', 'tls.key')) !== key);
    await world.untilSettled();
    const count = async () =>
      (await secretOf(world, 'c1-service-account', 'tls.crt')).match(/BEGIN PUBLIC KEY/g)?.length;
    expect(await count()).toBe(2);
    expect(world.report().rotations).toEqual(['sa: what the old one signed may still be shown']);
  });

  it('are used unchanged when a user brought them, and missing ones are named', async () => {
    const world = await start();
    await world.desired((desired) => ({
      ...desired,
      certificates: { ...desired.certificates, external: { 'front-proxy-ca': 'mine' } },
    }));
    await world.until(() =>
      /Secret .*mine holds no certificate authority/.test(world.report().stages.get('certificates')?.message ?? ''),
    );
    expect(await world.find(Secrets, 'mine')).toBeUndefined();
  });
});

describe('the endpoint of a hosted plane', () => {
  it('does not overwrite a different endpoint of the infrastructure', async () => {
    const world = await start({ balances: false });
    const { client, namespace } = world;
    const spec = { controlPlaneEndpoint: { host: '203.0.113.9', port: 6443 } };
    await client.patch(FakeClusters, { namespace, name: clusterName }, 'merge', { spec }, by);
    await world.until(
      async () => (await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint?.host === '203.0.113.9',
    );
    const status = { loadBalancer: { ingress: [{ ip: '127.65.0.9' }] } };
    await client.patch(Services, { namespace, name: 's-c1' }, 'merge', { status }, { ...by, subresource: 'status' });
    await world.until(() => world.report().stages.get('endpoint')?.reason === 'EndpointConflict');
    expect(world.report().stages.get('endpoint')?.message).toMatch(/203\.0\.113\.9.*127\.65\.0\.9/);
    expect(await world.find(Deployments, 'c1-api-server')).toBeUndefined();
  });
});

describe('deletion of a hosted plane', () => {
  it.each([
    ['with its volumes', true, 0],
    ['without its volumes', false, 3],
  ])('runs in order, %s', async (_, deleteVolumes, left) => {
    const world = await start();
    await world.desired(withEtcd({ deleteVolumes }));
    await world.untilSettled();
    world.setWorkloadDown(true);
    await world.client.delete(FakeControlPlanes, { namespace: world.namespace, name: clusterName });
    await world.until(async () => (await world.find(FakeControlPlanes, clusterName)) === undefined);
    expect(await world.list(Pods)).toEqual([]);
    expect(await world.list(StatefulSets)).toEqual([]);
    expect(await world.list(PersistentVolumeClaims)).toHaveLength(left);
    expect((await world.list(ConfigMaps)).length).toBeGreaterThan(0);
  });
});
