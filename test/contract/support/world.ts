import { collect, type Flavor, type Image, type Network, type OpenStack } from '../../../src/openstack/index.ts';

/** Resources that the tests need in any cloud. */
export interface World {
  /** the smallest flavor with a disk */
  readonly flavor: Flavor;
  /** flavor without a disk: servers must boot from a volume */
  readonly disklessFlavor: Flavor;
  readonly image: Image;
  readonly external: Network;
  /** available compute zones */
  readonly zones: readonly string[];
}

/** Finds the needed resources in a cloud, and creates missing ones. */
export async function ensureWorld(admin: OpenStack): Promise<World> {
  const flavors = await collect(admin.compute.flavors.list());
  const open = flavors.filter(({ isPublic }) => isPublic).toSorted((a, b) => a.ram - b.ram);
  const images = await collect(admin.image.images.list({ visibility: 'public', status: 'active' }));
  const networks = await collect(admin.network.networks.list({ external: true }));
  return {
    flavor: open.find(({ disk }) => disk > 0) ?? (await createFlavor(admin, 'contract.small', 10)),
    disklessFlavor: open.find(({ disk }) => disk === 0) ?? (await createFlavor(admin, 'contract.diskless', 0)),
    image: images[0] ?? (await createImage(admin)),
    external: networks[0] ?? (await createExternalNetwork(admin)),
    zones: (await admin.compute.availabilityZones.list()).filter(({ available }) => available).map(({ name }) => name),
  };
}

async function createFlavor(admin: OpenStack, name: string, disk: number): Promise<Flavor> {
  const json = { flavor: { name, ram: 1024, vcpus: 1, disk } };
  const answer = await admin.compute.service.request({ method: 'POST', path: '/flavors', json });
  return admin.compute.flavors.get(String(answer.member('flavor')['id']));
}

async function createImage(admin: OpenStack): Promise<Image> {
  const { images } = admin.image;
  const desired = { name: 'contract', diskFormat: 'raw', containerFormat: 'bare', visibility: 'public' } as const;
  const { id } = await images.create(desired);
  await images.upload(id, Buffer.alloc(1024));
  return images.get(id);
}

async function createExternalNetwork(admin: OpenStack): Promise<Network> {
  const network = await admin.network.networks.create({
    name: 'public',
    external: true,
    extra: { 'provider:network_type': 'flat', 'provider:physical_network': 'public' },
  });
  await admin.network.subnets.create({
    networkId: network.id,
    name: 'public-subnet',
    cidr: '203.0.113.0/24',
    ipVersion: 4,
    enableDhcp: false,
    gatewayIp: '203.0.113.1',
    allocationPools: [{ start: '203.0.113.10', end: '203.0.113.250' }],
  });
  return network;
}
