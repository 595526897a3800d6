import { type JsonObject, kubernetesVersionOfImage } from '../machinery/index.ts';
import { collect, type OpenStack } from '../openstack/index.ts';

export interface ListFilter {
  /** for networks: only external ones */
  readonly external?: boolean;
}

/** A list of cloud resources that users need to write a manifest. */
export interface CloudList {
  readonly name: string;
  readonly description: string;
  readonly header: readonly string[];
  /** table rows, each with its value for `-o json` */
  rows(
    cloud: OpenStack,
    signal: AbortSignal,
    filter: ListFilter,
  ): Promise<{ cells: readonly string[]; value: JsonObject }[]>;
}

const gib = (mib: number): string => `${Math.round((mib / 1024) * 10) / 10} GiB`;
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const cloudLists: readonly CloudList[] = [
  {
    name: 'flavors',
    description: 'list the flavors of a cloud: sizes of machines',
    header: ['NAME', 'VCPUS', 'MEMORY', 'DISK', 'ID'],
    async rows(cloud, signal) {
      const flavors = await collect(cloud.compute.flavors.list({}, { signal }));
      return flavors
        .filter(({ disabled }) => !disabled)
        .sort((a, b) => a.ram - b.ram || a.vcpus - b.vcpus || byText(a.name, b.name))
        .map(({ id, name, vcpus, ram, disk }) => ({
          cells: [name, String(vcpus), gib(ram), disk === 0 ? 'volume' : `${disk} GiB`, id],
          value: { name, id, vcpus, ramMiB: ram, diskGiB: disk },
        }));
    },
  },
  {
    name: 'images',
    description: 'list the images of a cloud, with their Kubernetes version if known',
    header: ['NAME', 'KUBERNETES', 'STATUS', 'VISIBILITY', 'ID'],
    async rows(cloud, signal) {
      const images = await collect(cloud.image.images.list({}, { signal }));
      return images
        .filter(({ hidden }) => !hidden)
        .sort((a, b) => byText(a.name, b.name))
        .map((image) => {
          const { id, name, status, visibility } = image;
          const kubernetesVersion = kubernetesVersionOfImage(image) ?? '';
          return {
            cells: [name, kubernetesVersion, status, visibility, id],
            value: { name, id, status, visibility, ...(kubernetesVersion !== '' && { kubernetesVersion }) },
          };
        });
    },
  },
  {
    name: 'networks',
    description: 'list the networks of a cloud; external ones are for floating IPs and routers',
    header: ['NAME', 'EXTERNAL', 'STATUS', 'ID'],
    async rows(cloud, signal, { external: isExternal }) {
      const networks = await collect(cloud.network.networks.list(isExternal ? { external: true } : {}, { signal }));
      return networks
        .sort((a, b) => Number(b.external) - Number(a.external) || byText(a.name, b.name))
        .map(({ id, name, external, status }) => ({
          cells: [name, String(external), status, id],
          value: { name, id, external, status },
        }));
    },
  },
  {
    name: 'keypairs',
    description: 'list the SSH key pairs of the user in a cloud',
    header: ['NAME', 'TYPE', 'FINGERPRINT'],
    async rows(cloud, signal) {
      const keys = await collect(cloud.compute.keypairs.list({ signal }));
      return keys
        .sort((a, b) => byText(a.name, b.name))
        .map(({ name, type = '', fingerprint }) => ({
          cells: [name, type, fingerprint],
          value: { name, type, fingerprint },
        }));
    },
  },
];
