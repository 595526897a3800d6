import { isStockImage } from '../../controllers/index.ts';
import { compareKubernetesVersions, kubernetesVersionOfImage, parseKubernetesVersion } from '../../machinery/index.ts';
import { collect, type Flavor, type Image, type OpenStack } from '../../openstack/index.ts';
import type { NodeImage } from './flavors.ts';

/** Values that a cloud offers for a variable: one answer, or several choices. */
export type Offer = { readonly value: string } | { readonly choose: readonly string[] };

export interface CloudQuestion {
  /** unanswered variables */
  readonly variables: ReadonlySet<string>;
  readonly image: NodeImage;
  /** version, if known */
  readonly kubernetesVersion: string | undefined;
  /** name of the external network, if its id is asked for */
  readonly network: string | undefined;
}

/** Minimum sizes for nodes. */
const controlPlaneSize = { vcpus: 2, ramMiB: 4096, diskGiB: 20 };
const workerSize = { vcpus: 1, ramMiB: 2048, diskGiB: 20 };

/** Queries a cloud for the variables it can answer, with one list per resource type. */
export async function askCloud(
  cloud: OpenStack,
  { variables, image, kubernetesVersion, network }: CloudQuestion,
  signal: AbortSignal,
): Promise<Map<string, Offer>> {
  const offers = new Map<string, Offer>();
  const asked = (...names: string[]): boolean => names.some((name) => variables.has(name));
  const work: Promise<void>[] = [];
  if (asked('OPENSTACK_EXTERNAL_NETWORK_ID')) {
    work.push(
      collect(cloud.network.networks.list({ external: true }, { signal })).then((networks) => {
        const [only, ...more] = networks.filter(({ name }) => network === undefined || name === network);
        const choose = networks.map(({ id, name }) => `${id} (${name})`);
        offers.set('OPENSTACK_EXTERNAL_NETWORK_ID', only && more.length === 0 ? { value: only.id } : { choose });
      }),
    );
  }
  if (asked('OPENSTACK_SSH_KEY_NAME')) {
    work.push(
      collect(cloud.compute.keypairs.list({ signal })).then((keys) => {
        const names = keys.map(({ name }) => name);
        offers.set('OPENSTACK_SSH_KEY_NAME', onlyOf(names));
      }),
    );
  }
  if (asked('OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR', 'OPENSTACK_NODE_MACHINE_FLAVOR')) {
    // Machines of a class boot from volumes, so their flavors need no disk.
    const diskGiB = image === 'none' ? 0 : undefined;
    work.push(
      collect(cloud.compute.flavors.list({}, { signal })).then((flavors) => {
        const offer = (size: typeof workerSize): Offer =>
          smallestFitting(flavors, { ...size, ...(diskGiB !== undefined && { diskGiB }) });
        offers.set('OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR', offer(controlPlaneSize));
        offers.set('OPENSTACK_NODE_MACHINE_FLAVOR', offer(workerSize));
      }),
    );
  }
  if (asked('OPENSTACK_IMAGE_NAME', 'KUBERNETES_VERSION')) {
    work.push(
      collect(cloud.image.images.list({ status: 'active' }, { signal })).then((images) => {
        for (const [name, offer] of imageOffers(images, { image, kubernetesVersion })) offers.set(name, offer);
      }),
    );
  }
  await Promise.all(work);
  return offers;
}

function smallestFitting(flavors: readonly Flavor[], size: typeof workerSize): Offer {
  const [smallest] = flavors
    .filter(
      ({ vcpus, ram, disk, disabled }) =>
        !disabled && vcpus >= size.vcpus && ram >= size.ramMiB && disk >= size.diskGiB,
    )
    .sort((a, b) => a.ram - b.ram || a.vcpus - b.vcpus || a.disk - b.disk || (a.name < b.name ? -1 : 1));
  return smallest ? { value: smallest.name } : { choose: flavors.map(({ name }) => name) };
}

/** Returns the newest matching image; without a version, of the newest version with an image. */
export function imageOffers(
  images: readonly Image[],
  { image, kubernetesVersion }: Pick<CloudQuestion, 'image' | 'kubernetesVersion'>,
): Map<string, Offer> {
  const offers = new Map<string, Offer>();
  const visible = images.filter(({ hidden }) => !hidden);
  const withKubernetes = visible.flatMap((one) => {
    const version = kubernetesVersionOfImage(one);
    return version === undefined ? [] : [{ ...one, version }];
  });
  const newestVersion = withKubernetes
    .map(({ version }) => version)
    .sort((a, b) => compareTexts(b, a))
    .at(0);
  const version = kubernetesVersion ?? newestVersion;
  if (version !== undefined) offers.set('KUBERNETES_VERSION', { value: version });
  const fitting =
    image === 'kubernetes'
      ? withKubernetes.filter((one) => one.version === version)
      : visible.filter((one) => (image === 'stock' ? isStockImage(one) : isUbuntu(one)));
  const newest = [...fitting].sort(byNewest).at(0);
  offers.set('OPENSTACK_IMAGE_NAME', newest ? { value: newest.name } : { choose: visible.map(({ name }) => name) });
  return offers;
}

function isUbuntu(image: Image): boolean {
  const { name, properties } = image;
  return (
    kubernetesVersionOfImage(image) === undefined && (properties['os_distro'] === 'ubuntu' || /ubuntu/i.test(name))
  );
}

function byNewest(a: Image, b: Image): number {
  const release = (image: Image): string => image.properties['os_version'] ?? '';
  const [first, second] = [release(a), release(b)];
  if (first !== second) return first < second ? 1 : -1;
  const [left, right] = [a.createdAt ?? '', b.createdAt ?? ''];
  return left === right ? (a.name < b.name ? -1 : 1) : left < right ? 1 : -1;
}

function compareTexts(a: string, b: string): number {
  const [left, right] = [parseKubernetesVersion(a), parseKubernetesVersion(b)];
  return left && right ? compareKubernetesVersions(left, right) : 0;
}

function onlyOf(names: readonly string[]): Offer {
  const [only, ...more] = names;
  return only !== undefined && more.length === 0 ? { value: only } : { choose: names };
}
