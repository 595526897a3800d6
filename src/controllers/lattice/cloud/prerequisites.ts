import { isUuid, type LatticeMachineSettings, type LatticeSettings } from '../../../api/index.ts';
import { collect, type Flavor, isNotFound, isOpenStackError, type OpenStack } from '../../../openstack/index.ts';
import type { CloudFacts } from '../facts.ts';
import { imageKindOf } from './image-kind.ts';

/** What the cloud lacks for a LatticeCluster; the facts if nothing is missing. */
export interface Prerequisites {
  readonly facts: CloudFacts | undefined;
  /** one sentence each, with the remedy */
  readonly missing: readonly string[];
  /** flavors below the recommended size */
  readonly small: readonly string[];
}

/** Recommended sizes: vCPUs, MiB, GiB. */
const recommended = {
  'control plane': { vcpus: 4, ram: 8 * 1024, disk: 50 },
  worker: { vcpus: 2, ram: 4 * 1024, disk: 50 },
} as const;
type Role = keyof typeof recommended;

/** Looks up everything the spec names, concurrently. Throws if the cloud is unusable as a whole. */
export async function checkPrerequisites(
  cloud: OpenStack,
  settings: LatticeSettings,
  signal: AbortSignal,
): Promise<Prerequisites> {
  const missing: string[] = [];
  const small: string[] = [];
  const [network, image] = await Promise.all([
    networkId(cloud, settings, signal),
    imageFact(cloud, settings, signal),
    ...[octavia, keyPair, zones, volumeTypes].map(async (check) => {
      missing.push(...(await check(cloud, settings, signal)));
    }),
    flavors(cloud, settings, signal).then((found) => {
      missing.push(...found.missing);
      small.push(...found.small);
    }),
  ]);
  for (const found of [network, image]) if ('problem' in found) missing.push(found.problem);
  const facts =
    missing.length === 0 && 'id' in network && 'kind' in image
      ? { externalNetworkId: network.id, image: image.kind }
      : undefined;
  return { facts, missing: missing.sort(), small: small.sort() };
}

type Check = (cloud: OpenStack, settings: LatticeSettings, signal: AbortSignal) => Promise<string[]>;

const octavia: Check = async ({ loadBalancer }, { loadBalancerFlavor }, signal) => {
  try {
    // one result proves that the service works
    for await (const _ of loadBalancer.loadBalancers.list({}, { signal, pageSize: 1 })) break;
    if (loadBalancerFlavor === undefined) return [];
    const offers = (await collect(loadBalancer.flavors.list({}, { signal }))).map(({ name }) => name);
    if (offers.includes(loadBalancerFlavor)) return [];
    return [`Octavia has no flavor "${loadBalancerFlavor}"; ${choice('apiServerLoadBalancerFlavor', offers)}`];
  } catch (error) {
    if (!isOpenStackError(error, 'noService')) throw error;
    return ['the cloud has no Octavia, which the API server needs for its load balancer; use a region that has it'];
  }
};

async function networkId(
  { network: { networks } }: OpenStack,
  { externalNetwork }: LatticeSettings,
  signal: AbortSignal,
): Promise<{ id: string } | { problem: string }> {
  const external = await collect(networks.list({ external: true }, { signal }));
  const found = external.filter(({ id, name }) => (isUuid(externalNetwork) ? id : name) === externalNetwork);
  const [only, ...more] = found;
  if (only && more.length === 0) return { id: only.id };
  if (only) return { problem: `there are ${found.length} external networks "${externalNetwork}"; name one by its id` };
  const offers = external.map(({ id, name }) => `${id} (${name})`);
  return { problem: `there is no external network "${externalNetwork}"; ${choice('externalNetworkId', offers)}` };
}

async function imageFact(
  { image: { images } }: OpenStack,
  settings: LatticeSettings,
  signal: AbortSignal,
): Promise<ReturnType<typeof imageKindOf>> {
  const name = settings.image;
  const found = await collect(images.list({ name }, { signal }));
  const usable = found.filter((image) => image.name === name && image.status === 'active');
  const [only, ...more] = usable;
  if (only && more.length === 0) return imageKindOf(only, settings.version);
  if (only) return { problem: `there are ${usable.length} images "${name}"; give the one you mean a unique name` };
  const others = await collect(images.list({ status: 'active' }, { signal }));
  const usableNames = others.flatMap((image) => ('kind' in imageKindOf(image, settings.version) ? image.name : []));
  const offer = choice('imageName', [...new Set(usableNames)]);
  return { problem: `there is no active image "${name}"; upload it (capstan create image), or ${offer}` };
}

const keyPair: Check = async ({ compute: { keypairs } }, { sshKey }, signal) => {
  try {
    await keypairs.get(sshKey, { signal });
    return [];
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const names = (await collect(keypairs.list({ signal }))).map(({ name }) => name);
    return [
      `there is no key pair "${sshKey}"; create it (capstan create keypair ${sshKey}), or ${choice('sshKeyName', names)}`,
    ];
  }
};

const zones: Check = async ({ compute: { availabilityZones } }, { controlPlane, pools }, signal) => {
  const named = new Set([controlPlane, ...pools].flatMap(({ zone }) => zone ?? []));
  if (named.size === 0) return [];
  const there = (await availabilityZones.list({ signal })).filter(({ available }) => available);
  const names = there.map(({ name }) => name);
  return [...named]
    .filter((zone) => !names.includes(zone))
    .map((zone) => `there is no availability zone "${zone}"; the zones are ${names.join(', ')}`);
};

const volumeTypes: Check = async ({ volume }, { controlPlane, pools }, signal) => {
  const volumes = [controlPlane, ...pools].flatMap(({ rootVolume }) => rootVolume ?? []);
  const named = new Set(volumes.flatMap(({ type }) => type ?? []));
  if (named.size === 0) return [];
  try {
    const names = (await collect(volume.types.list({}, { signal }))).map(({ name }) => name);
    return [...named]
      .filter((type) => !names.includes(type))
      .map((type) => `there is no volume type "${type}"; the types are ${names.join(', ')}`);
  } catch (error) {
    if (!isOpenStackError(error, 'noService')) throw error;
    return ['the cloud has no Cinder, so machines cannot boot from volumes; leave the root volumes out'];
  }
};

async function flavors(
  { compute }: OpenStack,
  { controlPlane, pools }: LatticeSettings,
  signal: AbortSignal,
): Promise<Pick<Prerequisites, 'missing' | 'small'>> {
  const all = await collect(compute.flavors.list({}, { signal }));
  const missing = new Set<string>();
  const small = new Set<string>();
  const look = (role: Role, machines: LatticeMachineSettings): void => {
    const flavor = all.find(({ name }) => name === machines.flavor);
    if (!flavor) {
      missing.add(`there is no flavor "${machines.flavor}"; choose one of ${all.map(({ name }) => name).join(', ')}`);
      return;
    }
    if (flavor.disk === 0 && machines.rootVolume === undefined) {
      missing.add(`flavor "${flavor.name}" has no disk: machines of a ${role} need a root volume`);
    }
    const lacks = smallerThan(role, flavor, machines);
    if (lacks !== undefined) small.add(lacks);
  };
  look('control plane', controlPlane);
  for (const pool of pools) look('worker', pool);
  return { missing: [...missing], small: [...small] };
}

function smallerThan(role: Role, flavor: Flavor, { rootVolume }: LatticeMachineSettings): string | undefined {
  const { vcpus, ram, disk } = recommended[role];
  const size = rootVolume?.sizeGb ?? flavor.disk;
  if (flavor.vcpus >= vcpus && flavor.ram >= ram && size >= disk) return undefined;
  const has = `${flavor.vcpus} vCPU, ${flavor.ram / 1024} GiB RAM and ${size} GiB disk`;
  return `flavor "${flavor.name}" gives a ${role} ${has}; at least ${vcpus} vCPU, ${ram / 1024} GiB RAM and ${disk} GiB disk are recommended`;
}

const maxOffers = 10;

function choice(field: string, offers: readonly string[]): string {
  if (offers.length === 0) return `${field} has nothing to name`;
  const more = offers.length > maxOffers ? ' and others' : '';
  return `name one of these as ${field}: ${offers.slice(0, maxOffers).join(', ')}${more}`;
}
