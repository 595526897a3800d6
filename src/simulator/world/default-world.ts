import type { World, WorldFlavor, WorldHost, WorldImage } from './world.ts';

const gib = 1024;

/** Three hosts without a zone (shown as `nova`), and one each in two zones. */
const hosts: readonly WorldHost[] = [
  ['simulated-1', 'nova'],
  ['simulated-2', 'nova'],
  ['simulated-3', 'nova'],
  ['simulated-4', 'az2'],
  ['simulated-5', 'az3'],
].map(([name = '', zone = '']) => ({ name, zone, vcpus: 4096, ramMiB: 32 * 1024 * gib, diskGiB: 1_000_000 }));

const flavors: readonly WorldFlavor[] = [
  { name: 'm1.tiny', vcpus: 1, ramMiB: 512, diskGiB: 1 },
  { name: 'm1.small', vcpus: 1, ramMiB: 2 * gib, diskGiB: 20 },
  { name: 'm1.medium', vcpus: 2, ramMiB: 4 * gib, diskGiB: 40 },
  { name: 'm1.large', vcpus: 4, ramMiB: 8 * gib, diskGiB: 80 },
  { name: 'm1.xlarge', vcpus: 8, ramMiB: 16 * gib, diskGiB: 160 },
  // Sovereign Cloud Stack flavors. Without a disk size in the name they have no disk, and servers boot from volumes.
  { name: 'SCS-1V-4', vcpus: 1, ramMiB: 4 * gib, diskGiB: 0 },
  { name: 'SCS-2V-4', vcpus: 2, ramMiB: 4 * gib, diskGiB: 0 },
  { name: 'SCS-2V-4-20s', vcpus: 2, ramMiB: 4 * gib, diskGiB: 20 },
  { name: 'SCS-2V-8', vcpus: 2, ramMiB: 8 * gib, diskGiB: 0 },
  { name: 'SCS-4V-8', vcpus: 4, ramMiB: 8 * gib, diskGiB: 0 },
  { name: 'SCS-4V-8-20', vcpus: 4, ramMiB: 8 * gib, diskGiB: 20 },
  { name: 'SCS-4V-16-100s', vcpus: 4, ramMiB: 16 * gib, diskGiB: 100 },
  { name: '2C-4GB-100GB', vcpus: 2, ramMiB: 4 * gib, diskGiB: 100 },
  { name: 'b2-7', vcpus: 2, ramMiB: 7 * gib, diskGiB: 50 },
  { name: 'b2-15', vcpus: 4, ramMiB: 15 * gib, diskGiB: 100 },
  { name: 'b2-30', vcpus: 8, ramMiB: 30 * gib, diskGiB: 200 },
];

const ubuntu = { os_type: 'linux', os_distro: 'ubuntu', architecture: 'x86_64' };

/** Node images are named after their Kubernetes version. */
const nodeImages: readonly WorldImage[] = [
  ...['v1.31.12', 'v1.31.14', 'v1.32.6', 'v1.32.8', 'v1.33.6', 'v1.33.7', 'v1.34.2', 'v1.34.4'],
].map((version) => ({
  name: `ubuntu-capi-image-${version}`,
  tags: ['cluster-api'],
  properties: { ...ubuntu, kubernetes_version: version },
}));

const images: readonly WorldImage[] = [
  { name: 'ubuntu-22.04-x86_64', properties: { ...ubuntu, os_version: '22.04' } },
  { name: 'Ubuntu 22.04', properties: { ...ubuntu, os_version: '22.04' } },
  { name: 'Ubuntu 24.04', properties: { ...ubuntu, os_version: '24.04' } },
  { name: 'Ubuntu-18.04-2', properties: { ...ubuntu, os_version: '18.04' } },
  { name: 'Ubuntu_20.04_node', tags: ['cluster-api'], properties: { ...ubuntu, os_version: '20.04' } },
  { name: 'ubuntu-capi-image', tags: ['cluster-api'], properties: ubuntu },
  ...nodeImages,
  { name: 'flatcar', properties: { os_type: 'linux', os_distro: 'flatcar', architecture: 'x86_64' } },
  { name: 'flatcar-stable', properties: { os_type: 'linux', os_distro: 'flatcar', architecture: 'x86_64' } },
  { name: 'cirros', properties: { os_type: 'linux', os_distro: 'cirros', architecture: 'x86_64' } },
];

/** The private key was discarded, because simulated machines have no login. */
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMuoOw17Ha6dKWg2vHQJjeOD/Q/Bwbw24RRl0/zaDxb/ simulated';

const quotas = {
  compute: {
    instances: 1000,
    cores: 8000,
    ram: 32_000 * gib,
    key_pairs: 100,
    server_groups: 100,
    server_group_members: 500,
  },
  network: {
    network: 500,
    subnet: 500,
    port: 10_000,
    router: 200,
    floatingip: 500,
    security_group: 1000,
    security_group_rule: 20_000,
    trunk: 1000,
  },
  volume: { volumes: 2000, snapshots: 2000, gigabytes: 200_000 },
};

const memberRoles = ['member', 'reader', 'load-balancer_member'];

/** A cloud with the names that common guides use. */
export const defaultWorld: World = {
  hosts,
  flavors,
  images,
  volumeTypes: ['ssd', 'high-speed', 'classic'],
  loadBalancerFlavors: ['small', 'medium'],
  // Only one, because clusters without an explicit network need a unique default.
  externalNetworks: [
    {
      name: 'public',
      id: '375af7fe-a2c1-4c26-a57d-6d33175a6650',
      // Loopback addresses work on every host without configuration, so servers are reachable directly.
      cidr: '127.64.0.0/16',
      gateway: '127.64.0.1',
      pool: { start: '127.64.0.10', end: '127.64.255.250' },
    },
  ],
  projects: [
    {
      name: 'demo',
      quotas,
      users: [
        {
          name: 'demo',
          roles: memberRoles,
          keyPairs: ['demo', 'capi', 'lattice-key'].map((name) => ({ name, publicKey })),
          applicationCredentials: ['demo'],
        },
        { name: 'demo-reader', roles: ['reader'] },
      ],
      networks: [
        {
          name: 'k8s-clusterapi-cluster-default-capo-test',
          cidr: '10.6.0.0/24',
          dnsServers: ['8.8.8.8'],
          externalNetwork: 'public',
        },
      ],
    },
    {
      name: 'other',
      quotas,
      users: [{ name: 'other', roles: memberRoles, keyPairs: [{ name: 'demo', publicKey }] }],
    },
  ],
};
