import { afterEach, describe, expect, it } from 'vitest';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Pod,
  Pods,
} from '../../api/index.ts';
import { type EmbeddedWorld, embeddedWorld } from '../testing/embedded-world.ts';
import { claimProtection } from './claim-protection.ts';
import { volumeProtection } from './volume-protection.ts';

const by = { fieldManager: 'test' };
const namespace = 'default';

let world: EmbeddedWorld;
afterEach(() => world.stop());

async function begin(protectsOnCreate = true): Promise<void> {
  world = await embeddedWorld({
    controllers: () => [claimProtection(), volumeProtection()],
    server: {
      admissionPlugins: {
        disable: protectsOnCreate ? ['ServiceAccount'] : ['ServiceAccount', 'StorageObjectInUseProtection'],
      },
    },
  });
}

const createClaim = (name = 'c'): Promise<PersistentVolumeClaim> =>
  world.client.create(
    PersistentVolumeClaims,
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    by,
  );

const createPod = (name: string, spec: Partial<NonNullable<Pod['spec']>>): Promise<Pod> =>
  world.client.create(
    Pods,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec } as NonNullable<Pod['spec']>,
    },
    by,
  );

const withClaim = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] };
const claim = (): Promise<PersistentVolumeClaim | undefined> => world.find(PersistentVolumeClaims, 'c', namespace);
const isGone = async (): Promise<boolean> => (await claim()) === undefined;

describe('a claim under protection', () => {
  it('has the protecting finalizer from its first moment', async () => {
    await begin();
    expect((await createClaim()).metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  });

  it('gets the finalizer later when it has none', async () => {
    await begin(false);
    expect((await createClaim()).metadata.finalizers).toBeUndefined();
    await world.soon(async () => (await claim())?.metadata.finalizers?.length === 1);
  });

  it('is deleted at once when nobody uses it', async () => {
    await begin();
    await createClaim();
    await world.client.delete(PersistentVolumeClaims, { namespace, name: 'c' });
    await world.soon(isGone);
  });

  it('stays until the last Pod on a node that uses it is gone', async () => {
    await begin();
    await createClaim();
    await createPod('a', { ...withClaim, nodeName: 'n1' });
    await createPod('b', { ...withClaim, nodeName: 'n2' });
    await createPod('other', { nodeName: 'n1' });
    await world.client.delete(PersistentVolumeClaims, { namespace, name: 'c' });
    for (const name of ['other', 'a']) {
      await world.clock.advance(1000);
      expect(await isGone()).toBe(false);
      await world.client.delete(Pods, { namespace, name }, { gracePeriodSeconds: 0 });
    }
    await world.clock.advance(1000);
    expect(await isGone()).toBe(false);
    await world.client.delete(Pods, { namespace, name: 'b' }, { gracePeriodSeconds: 0 });
    await world.soon(isGone);
  });

  it('does not wait for a Pod that has no node', async () => {
    await begin();
    await createClaim();
    await createPod('a', withClaim);
    await world.client.delete(PersistentVolumeClaims, { namespace, name: 'c' });
    await world.soon(isGone);
  });
});

describe('a volume under protection', () => {
  const createVolume = (): Promise<PersistentVolume> =>
    world.client.create(
      PersistentVolumes,
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: 'v' },
        spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/v' } },
      } as PersistentVolume,
      by,
    );
  const setPhase = (phase: string): Promise<PersistentVolume> =>
    world.client.patch(
      PersistentVolumes,
      { name: 'v' },
      'merge',
      { status: { phase } },
      { ...by, subresource: 'status' },
    );
  const volumeIsGone = async (): Promise<boolean> => (await world.find(PersistentVolumes, 'v')) === undefined;

  it('stays while it is bound', async () => {
    await begin();
    expect((await createVolume()).metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
    await setPhase('Bound');
    await world.client.delete(PersistentVolumes, { name: 'v' });
    await world.clock.advance(1000);
    expect(await volumeIsGone()).toBe(false);
    await setPhase('Released');
    await world.soon(volumeIsGone);
  });

  it('is deleted at once when it is not bound', async () => {
    await begin();
    await createVolume();
    await world.client.delete(PersistentVolumes, { name: 'v' });
    await world.soon(volumeIsGone);
  });
});
