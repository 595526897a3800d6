import type { World } from '../world/world.ts';

/** A minimal world for servers, which is fast to create. */
export const smallWorld: World = {
  hosts: [
    { name: 'host-1', zone: 'nova', vcpus: 64, ramMiB: 65_536, diskGiB: 1000 },
    { name: 'host-2', zone: 'nova', vcpus: 64, ramMiB: 65_536, diskGiB: 1000 },
    { name: 'host-3', zone: 'az2', vcpus: 64, ramMiB: 65_536, diskGiB: 1000 },
  ],
  flavors: [
    { name: 'small', vcpus: 1, ramMiB: 1024, diskGiB: 10 },
    { name: 'large', vcpus: 4, ramMiB: 8192, diskGiB: 40 },
    { name: 'diskless', vcpus: 1, ramMiB: 1024, diskGiB: 0 },
  ],
  images: [{ name: 'ubuntu', properties: { os_distro: 'ubuntu' } }],
  volumeTypes: ['ssd'],
  externalNetworks: [
    {
      name: 'public',
      cidr: '172.24.4.0/24',
      gateway: '172.24.4.1',
      pool: { start: '172.24.4.10', end: '172.24.4.200' },
    },
  ],
};
