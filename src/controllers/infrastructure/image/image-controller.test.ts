import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployments, type Image, type ImageSpec, Images } from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { by, createInfrastructureWorld, credentialsName, type InfrastructureWorld } from '../testing/world.ts';
import { ImageContentError } from './fetch-content.ts';
import { imageController } from './image-controller.ts';

const content = Buffer.from('a disk of sorts'.repeat(1000));
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hash = { algorithm: 'sha256', value: sha256(content) } as const;
const url = 'https://images.test/disk.qcow2';

describe('Images', () => {
  let world: InfrastructureWorld;
  /** served content by URL */
  const served = new Map<string, Uint8Array>();
  beforeAll(async () => {
    world = await createInfrastructureWorld({
      controllers: (dependencies) => [
        imageController({
          ...dependencies,
          fetchContent: async function* (address) {
            const bytes = served.get(address);
            if (!bytes) throw new ImageContentError(`${address}: the server answers 404`);
            for (let at = 0; at < bytes.length; at += 4096) yield bytes.subarray(at, at + 4096);
          },
        }),
      ],
    });
    served.set(url, content);
  });
  afterAll(() => world.stop());

  const create = (name: string, spec: Partial<ImageSpec>): Promise<Image> =>
    world.client.create(
      Images,
      {
        apiVersion: 'openstack.k-orc.cloud/v1alpha1',
        kind: 'Image',
        metadata: { name, namespace: world.namespace },
        spec: { cloudCredentialsRef: { secretName: credentialsName, cloudName: 'openstack' }, ...spec },
      },
      by,
    );
  const managed = (
    name: string,
    download: object = { url, hash },
    more: Partial<ImageSpec> & { resource?: object } = {},
  ) =>
    create(name, {
      ...more,
      resource: { content: { diskFormat: 'qcow2', download: { url, ...download } }, ...more.resource },
    });
  const get = (name: string): Promise<Image> => world.get(Images, name);
  const isAvailable = async (name: string): Promise<boolean> =>
    conditionOf(await get(name), 'Available')?.status === 'True';
  const messageOf = async (name: string): Promise<string> => conditionOf(await get(name), 'Available')?.message ?? '';
  const inCloud = async (name: string) => await collect(world.tenant.image.images.list({ name }));
  const remove = async (name: string): Promise<void> => {
    await world.client.delete(Images, { namespace: world.namespace, name });
    await world.until(async () => (await world.find(Images, name)) === undefined);
  };

  it('are created, downloaded with a verified hash, and not written again', async () => {
    await managed(
      'made',
      { url, hash },
      {
        resource: {
          tags: ['b', 'a'],
          visibility: 'private',
          properties: {
            architecture: 'x86_64',
            minDiskGB: 20,
            minMemoryMB: 2048,
            hardware: { diskBus: 'scsi', scsiModel: 'virtio-scsi', qemuGuestAgent: true },
            operatingSystem: { distro: 'ubuntu', version: '24.04' },
          },
        },
      },
    );
    await world.until(() => isAvailable('made'));
    const [live, ...others] = await inCloud('made');
    expect(others).toEqual([]);
    expect(live).toMatchObject({
      status: 'active',
      size: content.length,
      visibility: 'private',
      minDisk: 20,
      minRam: 2048,
      properties: {
        architecture: 'x86_64',
        hw_disk_bus: 'scsi',
        hw_scsi_model: 'virtio-scsi',
        hw_qemu_guest_agent: 'true',
        os_distro: 'ubuntu',
        os_version: '24.04',
      },
    });
    const image = await get('made');
    expect(image.status).toMatchObject({
      id: live?.id,
      downloadAttempts: 1,
      resource: {
        name: 'made',
        status: 'active',
        protected: false,
        visibility: 'private',
        tags: ['a', 'b'],
        sizeB: content.length,
      },
    });
    expect(conditionOf(image, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'Success',
      message: 'OpenStack resource is up to date',
      observedGeneration: image.metadata.generation,
    });
    expect(conditionOf(image, 'Downloading')).toMatchObject({ status: 'False', reason: 'Success' });
    const before = [world.writes(), world.requests.length];
    await world.pass(600_000);
    expect([world.writes(), world.requests.length]).toEqual(before);
  });

  it('update mutable fields, and no others', async () => {
    const key = { namespace: world.namespace, name: 'made' };
    await world.client.patch(
      Images,
      key,
      'merge',
      { spec: { resource: { tags: ['c'], name: 'renamed', protected: true } } },
      by,
    );
    await world.until(async () => (await inCloud('renamed'))[0]?.protected === true);
    expect((await inCloud('renamed'))[0]?.tags).toEqual(['c']);
    // a protected image stays, and the object reports it
    await world.client.delete(Images, key);
    await world.until(async () => /is protected in the cloud/.test(await messageOf('made')));
    await world.client.patch(Images, key, 'merge', { spec: { resource: { protected: false } } }, by);
    const [live] = await inCloud('renamed');
    await world.tenant.image.images.setProperties(live?.id ?? '', { protected: false });
    await world.until(async () => (await world.find(Images, 'made')) === undefined);
    expect(await inCloud('renamed')).toEqual([]);
  });

  it('with a wrong hash are not stored, and are downloaded when it is corrected', async () => {
    served.set('https://images.test/late', Buffer.from('something else'));
    await managed('wrong', { url: 'https://images.test/late', hash });
    await world.until(async () =>
      /the sha256 of what was downloaded is [0-9a-f]{64}, and/.test(await messageOf('wrong')),
    );
    expect((await inCloud('wrong'))[0]?.status).toBe('queued');
    expect(conditionOf(await get('wrong'), 'Progressing')).toMatchObject({ status: 'True', reason: 'TransientError' });
    await world.pass(120_000);
    expect((await get('wrong')).status?.downloadAttempts).toBe(4);
    served.set('https://images.test/late', content);
    await world.until(() => isAvailable('wrong'));
    expect((await inCloud('wrong'))[0]?.size).toBe(content.length);
    await remove('wrong');
  });

  it('are decompressed', async () => {
    const packed = gzipSync(content);
    served.set('https://images.test/disk.gz', packed);
    const download = { url: 'https://images.test/disk.gz', decompress: 'gz' };
    await managed('packed', { ...download, hash: { algorithm: 'sha256', value: sha256(packed) } });
    await world.until(() => isAvailable('packed'));
    expect((await inCloud('packed'))[0]?.checksum).toBe(createHash('md5').update(content).digest('hex'));
    await remove('packed');
    await managed('xz', { ...download, decompress: 'xz' });
    await world.until(async () => /xz cannot be decompressed here/.test(await messageOf('xz')));
    expect(conditionOf(await get('xz'), 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'InvalidConfiguration',
    });
    await remove('xz');
  });

  it('without a hash are downloaded by the cloud itself', async () => {
    await managed('web', { url: 'https://images.test/elsewhere', hash: undefined });
    await world.until(() => isAvailable('web'));
    expect(world.requests.some(({ method, path }) => method === 'POST' && path.endsWith('/import'))).toBe(true);
    await remove('web');
    expect(await inCloud('web')).toEqual([]);
    await managed('nowhere', { url: 'https://images.invalid/disk', hash: undefined });
    await world.until(async () => /2 attempts.*Name or service not known/s.test(await messageOf('nowhere')));
    await remove('nowhere');
  });

  it('are created once although the response was lost and the program crashed', async () => {
    let lost = 0;
    world.setFate(({ method, path }) =>
      method === 'POST' && path.endsWith('/images') && lost++ === 0 ? 'lose' : 'pass',
    );
    await managed('lost');
    await world.until(() => lost > 0);
    await world.restart();
    await world.until(() => isAvailable('lost'));
    world.setFate(undefined);
    expect(await inCloud('lost')).toHaveLength(1);
    // deleted by another client: created again
    const [live] = await inCloud('lost');
    await world.tenant.image.images.delete(live?.id ?? '');
    const key = { namespace: world.namespace, name: 'lost' };
    await world.client.patch(Images, key, 'merge', { spec: { resource: { tags: ['again'] } } }, by);
    await world.until(async () => (await inCloud('lost'))[0]?.status === 'active');
    await remove('lost');
  });

  it('stay in the cloud when the object asks for that', async () => {
    await managed('kept', { url, hash }, { managedOptions: { onDelete: 'detach' } });
    await world.until(() => isAvailable('kept'));
    await remove('kept');
    expect(await inCloud('kept')).toHaveLength(1);
  });

  it('that are unmanaged are found by id or filter, awaited, and never changed', async () => {
    const importOf = (filter: object): Partial<ImageSpec> => ({ managementPolicy: 'unmanaged', import: filter });
    await create('late', importOf({ filter: { name: 'comes-late' } }));
    await world.until(async () =>
      /Waiting for OpenStack resource to be created externally/.test(await messageOf('late')),
    );
    const spec = { name: 'comes-late', diskFormat: 'raw', containerFormat: 'bare' };
    const made = await world.tenant.image.images.create(spec);
    await world.tenant.image.images.upload(made.id, content);
    await world.until(() => isAvailable('late'));
    expect((await get('late')).status?.id).toBe(made.id);
    await create('by-id', importOf({ id: made.id }));
    await world.until(() => isAvailable('by-id'));
    // a later image with the same name does not matter once one is found
    const second = await world.tenant.image.images.create(spec);
    await create('twice', importOf({ filter: { name: 'comes-late' } }));
    await world.until(async () => /2 images match it/.test(await messageOf('twice')));
    expect(await isAvailable('late')).toBe(true);
    await world.tenant.image.images.delete(second.id);
    await world.until(() => isAvailable('twice'));
    for (const name of ['late', 'by-id', 'twice']) await remove(name);
    expect(await inCloud('comes-late')).toHaveLength(1);
  });

  it('report missing credentials, and continue when they exist', async () => {
    await create('secretless', {
      cloudCredentialsRef: { secretName: 'nobody', cloudName: 'openstack' },
      resource: { content: { diskFormat: 'qcow2', download: { url } } },
    });
    await world.until(async () => /Secret \S+\/nobody does not exist/.test(await messageOf('secretless')));
    const key = { namespace: world.namespace, name: 'secretless' };
    const spec = { cloudCredentialsRef: { secretName: credentialsName, cloudName: 'openstack' } };
    await world.client.patch(Images, key, 'merge', { spec }, by);
    await world.until(() => isAvailable('secretless'));
    await remove('secretless');
  });

  it('are left to the OpenStack Resource Controller when that runs', async () => {
    const labels = { app: 'orc' };
    const key = { namespace: world.namespace, name: 'orc-controller-manager' };
    await world.client.create(
      Deployments,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: key,
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: 'manager', image: 'quay.io/orc/openstack-resource-controller:v2.2.0' }] },
          },
        },
      },
      by,
    );
    await managed('theirs');
    await world.pass(120_000);
    expect((await get('theirs')).status).toBeUndefined();
    expect((await get('theirs')).metadata.finalizers).toBeUndefined();
    await world.client.delete(Deployments, key);
    await world.until(() => isAvailable('theirs'));
    await remove('theirs');
  });
});
