import { afterEach, describe, expect, it } from 'vitest';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type PersistentVolumeSpec,
  PersistentVolumes,
  type Pod,
  Pods,
  type StorageClass,
  StorageClasses,
} from '../../../api/index.ts';
import { type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';
import type { Provisioner } from './provisioner.ts';

let world: WorkloadWorld;
afterEach(() => world.stop());

/** Keeps volumes in a map and fails on request. */
class FakeProvisioner implements Provisioner {
  readonly volumes = new Map<string, number>();
  failure: Error | undefined;

  async provision({ name, capacityBytes }: Parameters<Provisioner['provision']>[0]) {
    this.volumes.set(name, capacityBytes);
    if (this.failure) throw this.failure;
    return { source: { csi: { driver: 'test', volumeHandle: name } } };
  }

  async remove({ spec }: PersistentVolume): Promise<void> {
    if (this.failure) throw this.failure;
    this.volumes.delete(spec.csi!.volumeHandle);
  }

  async expand({ spec }: PersistentVolume, capacityBytes: number): Promise<void> {
    this.volumes.set(spec.csi!.volumeHandle, capacityBytes);
  }
}

let provisioner: FakeProvisioner;

async function begin(settings: Partial<StorageClass> = {}): Promise<void> {
  provisioner = new FakeProvisioner();
  world = await workloadWorld({ parts: ['volumes'], provisioners: { 'test/disk': provisioner } });
  await world.create(StorageClasses, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'test/disk',
    allowVolumeExpansion: true,
    ...settings,
  });
}

const createClaim = (spec: Partial<PersistentVolumeClaim['spec']> = {}, name = 'c'): Promise<PersistentVolumeClaim> =>
  world.create(PersistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
  });

const createVolume = (name: string, storage: string, spec: Partial<PersistentVolumeSpec> = {}): Promise<unknown> =>
  world.create(PersistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage },
      storageClassName: 'standard',
      hostPath: { path: `/${name}` },
      ...spec,
    },
  });

const podUsing = (volume: NonNullable<Pod['spec']['volumes']>[number]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }], volumes: [volume] },
});

const claim = (name = 'c'): Promise<PersistentVolumeClaim> => world.get(PersistentVolumeClaims, name);
const isBound = async (): Promise<boolean> => (await claim()).status?.phase === 'Bound';

describe('a claim', () => {
  it('with the default class gets a volume made for it', async () => {
    await begin();
    const { metadata } = await createClaim();
    await world.until(isBound);
    const name = `pvc-${metadata.uid}`;
    expect(await claim()).toMatchObject({
      metadata: {
        annotations: {
          'pv.kubernetes.io/bind-completed': 'yes',
          'volume.kubernetes.io/storage-provisioner': 'test/disk',
        },
        finalizers: ['kubernetes.io/pvc-protection'],
      },
      spec: { volumeName: name },
      status: { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
    });
    await world.until(async () => (await world.get(PersistentVolumes, name)).status?.phase === 'Bound');
    expect(await world.get(PersistentVolumes, name)).toMatchObject({
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'test/disk' } },
      spec: {
        csi: { driver: 'test', volumeHandle: name },
        claimRef: { name: 'c', uid: metadata.uid },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'standard',
      },
    });
    expect(provisioner.volumes).toEqual(new Map([[name, 2 * 1024 ** 3]]));
    expect(await world.writesAtRest()).toBe(0);
  });

  it('takes the smallest volume that exists and is large enough', async () => {
    await begin();
    await createVolume('small', '1Gi');
    await createVolume('large', '10Gi');
    await createVolume('right', '3Gi');
    await createVolume('other-mode', '2Gi', { volumeMode: 'Block' });
    await createClaim();
    await world.until(isBound);
    expect((await claim()).spec.volumeName).toBe('right');
    expect((await claim()).status?.capacity).toEqual({ storage: '3Gi' });
    expect(provisioner.volumes.size).toBe(0);
  });

  it('gets the volume that is reserved for it, and no other claim does', async () => {
    await begin();
    await createVolume('promised', '5Gi', { claimRef: { namespace: 'default', name: 'c' } });
    await createClaim({}, 'other');
    await world.until(async () => (await claim('other')).status?.phase === 'Bound');
    expect((await claim('other')).spec.volumeName).not.toBe('promised');
    await createClaim();
    await world.until(isBound);
    expect((await claim()).spec.volumeName).toBe('promised');
  });

  it('waits for the first Pod that uses it when its class says so', async () => {
    await begin({ volumeBindingMode: 'WaitForFirstConsumer' });
    await createClaim();
    await world.until(async () => (await world.reasons('c')).includes('WaitForFirstConsumer'));
    expect(provisioner.volumes.size).toBe(0);
    await world.create(Pods, podUsing({ name: 'v', persistentVolumeClaim: { claimName: 'c' } }));
    await world.until(isBound);
  });

  it.each([
    ['no class at all', { storageClassName: '' }, 'FailedBinding'],
    ['an unknown class', { storageClassName: 'nope' }, 'ProvisioningFailed'],
  ])('with %s says what it lacks and is bound when a volume comes', async (_, spec, reason) => {
    await begin();
    await createClaim(spec);
    await world.until(async () => (await world.reasons('c')).includes(reason));
    await createVolume('late', '2Gi', { storageClassName: spec.storageClassName });
    await world.until(isBound);
  });

  it('says why its volume cannot be made and is bound when the cause is gone', async () => {
    await begin();
    provisioner.failure = new Error('no space left');
    await createClaim();
    await world.until(async () => (await world.reasons('c')).includes('ProvisioningFailed'));
    provisioner.failure = undefined;
    await world.until(isBound);
    expect(provisioner.volumes.size).toBe(1);
  });

  it('leaves nothing behind when it is deleted while its volume is made', async () => {
    await begin();
    provisioner.failure = new Error('later');
    await createClaim();
    await world.until(async () => provisioner.volumes.size === 1);
    await world.remove(PersistentVolumeClaims, 'c');
    provisioner.failure = undefined;
    await world.until(async () => (await world.list(PersistentVolumeClaims)).length === 0);
    await world.until(async () => provisioner.volumes.size === 0 && (await world.list(PersistentVolumes)).length === 0);
  });

  it('deletes or keeps its volume as the class says', async () => {
    await begin();
    await createClaim();
    await world.until(isBound);
    await world.remove(PersistentVolumeClaims, 'c');
    await world.until(async () => (await world.list(PersistentVolumes)).length === 0);
    expect(provisioner.volumes.size).toBe(0);
    await createVolume('kept', '2Gi', { persistentVolumeReclaimPolicy: 'Retain' });
    await createClaim();
    await world.until(isBound);
    await world.remove(PersistentVolumeClaims, 'c');
    await world.until(async () => (await world.get(PersistentVolumes, 'kept')).status?.phase === 'Released');
    await createClaim();
    await world.until(isBound);
    expect((await claim()).spec.volumeName).not.toBe('kept');
  });

  it('keeps the data until a failed removal works', async () => {
    await begin();
    await createClaim();
    await world.until(isBound);
    provisioner.failure = new Error('busy');
    await world.remove(PersistentVolumeClaims, 'c');
    await world.until(async () => (await world.list(PersistentVolumes))[0]?.status?.phase === 'Failed');
    provisioner.failure = undefined;
    await world.until(async () => (await world.list(PersistentVolumes)).length === 0);
  });

  it('grows when it asks for more', async () => {
    await begin();
    await createClaim();
    await world.until(isBound);
    await world.patch(PersistentVolumeClaims, 'c', { spec: { resources: { requests: { storage: '5Gi' } } } });
    await world.until(async () => (await claim()).status?.capacity?.['storage'] === '5Gi');
    expect([...provisioner.volumes.values()]).toEqual([5 * 1024 ** 3]);
  });

  it('reports that it is lost when its volume is lost', async () => {
    await begin();
    await createVolume('only', '2Gi', { persistentVolumeReclaimPolicy: 'Retain' });
    await createClaim();
    await world.until(isBound);
    await world.patch(PersistentVolumes, 'only', { metadata: { finalizers: null } });
    await world.client.delete(PersistentVolumes, { name: 'only' });
    await world.patch(PersistentVolumes, 'only', { metadata: { finalizers: null } }).catch(() => undefined);
    await world.until(async () => (await claim()).status?.phase === 'Lost');
  });

  it('is made for a Pod with an ephemeral volume and deleted with it', async () => {
    await begin({ volumeBindingMode: 'WaitForFirstConsumer' });
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await world.create(Pods, podUsing({ name: 'v', ephemeral: { volumeClaimTemplate: { spec } } }));
    await world.until(
      async () => (await world.find(PersistentVolumeClaims, 'p-v', 'default'))?.status?.phase === 'Bound',
    );
    await world.remove(Pods, 'p');
    await world.until(async () => (await world.list(PersistentVolumes)).length === 0);
  });
});

describe('a claim that names no class', () => {
  const isDefault = { metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } };
  const notDefault = { metadata: { name: 'standard', annotations: {} } };

  it('gets the default class when one appears later, but not when it wants none', async () => {
    await begin(notDefault);
    await createClaim();
    await createClaim({ storageClassName: '' }, 'none');
    expect(await world.writesAtRest()).toBe(0);
    expect((await world.get(PersistentVolumeClaims, 'c')).spec.storageClassName).toBeUndefined();
    await world.patch(StorageClasses, 'standard', isDefault);
    await world.until(async () => (await world.get(PersistentVolumeClaims, 'c')).status?.phase === 'Bound');
    expect((await world.get(PersistentVolumeClaims, 'c')).spec.storageClassName).toBe('standard');
    expect((await world.get(PersistentVolumeClaims, 'none')).status?.phase).toBe('Pending');
  });
});
