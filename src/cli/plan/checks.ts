import { isOpenStackError, type OpenStack } from '../../openstack/index.ts';
import type { MadeChange } from './cluster-rehearsal.ts';
import type { PlanProblem } from './types.ts';

/** Resources of a cloud that servers may refer to; each list is read once. */
export interface CloudOffers {
  keys(): Promise<ReadonlySet<string>>;
  zones(): Promise<ReadonlySet<string>>;
  volumeTypes(): Promise<ReadonlySet<string>>;
  volumeZones(): Promise<ReadonlySet<string>>;
}

const offers = new WeakMap<OpenStack, CloudOffers>();

function offersOf(cloud: OpenStack): CloudOffers {
  const known = offers.get(cloud);
  if (known) return known;
  const once = (read: () => Promise<readonly string[]>): (() => Promise<ReadonlySet<string>>) => {
    let answer: Promise<ReadonlySet<string>> | undefined;
    return () => {
      answer ??= read().then((names) => new Set(names));
      return answer;
    };
  };
  const names = async (list: AsyncIterable<{ readonly name: string }>): Promise<string[]> => {
    const all: string[] = [];
    for await (const { name } of list) all.push(name);
    return all;
  };
  const available = async (zones: Promise<readonly { name: string; available: boolean }[]>): Promise<string[]> =>
    (await zones).filter((zone) => zone.available).map(({ name }) => name);
  const created: CloudOffers = {
    keys: once(() => names(cloud.compute.keypairs.list())),
    zones: once(() => available(cloud.compute.availabilityZones.list())),
    volumeTypes: once(() => names(cloud.volume.types.list())),
    volumeZones: once(() => available(cloud.volume.availabilityZones.list())),
  };
  offers.set(cloud, created);
  return created;
}

type Finding = Pick<PlanProblem, 'message' | 'severity'>;

/**
 * Checks what nova and cinder would refuse or what would break a server. The controllers leave these checks to the
 * cloud.
 */
export async function checkNewServer({ change, cloud }: MadeChange): Promise<Finding[]> {
  if (change.action !== 'create' || change.type !== 'server') return [];
  const { openstack } = cloud;
  const { keyName, availabilityZone, flavor, imageId } = change.thing;
  const findings: Finding[] = [];
  const error = (message: string): void => void findings.push({ severity: 'error', message });
  if (keyName !== undefined && !(await offersOf(openstack).keys()).has(keyName)) {
    error(
      `spec.sshKeyName: there is no key pair "${keyName}" of this user; import one of that name (capstan create keypair ${keyName} --public-key FILE), or name another`,
    );
  }
  const zones = await offersOf(openstack).zones();
  if (availabilityZone !== undefined && !zones.has(availabilityZone)) {
    error(
      `failureDomain: there is no availability zone "${availabilityZone}" that takes servers; there are ${[...zones].sort().join(', ') || 'none'}`,
    );
  }
  const size = await found(openstack.compute.flavors.get(flavor.id ?? ''));
  if (!size) error(`spec.flavor: there is no flavor ${flavor.id} that this project may use; correct the id`);
  if (imageId === undefined) return findings;
  const image = await found(openstack.image.images.get(imageId));
  if (!image) error(`spec.image: there is no image ${imageId} that this project may use; correct the id`);
  else if (image.status !== 'active') {
    error(`spec.image: image ${image.name} (${image.id}) is ${image.status}; wait until it is active, or name another`);
  }
  if (!image || !size) return findings;
  if (size.ram < image.minRam) {
    error(`spec.flavor: ${size.name} has ${size.ram} MiB of memory, image ${image.name} needs ${image.minRam}`);
  }
  if (size.disk < image.minDisk && size.disk > 0) {
    error(`spec.flavor: ${size.name} has a disk of ${size.disk} GiB, image ${image.name} needs ${image.minDisk}`);
  }
  return findings;
}

export async function checkNewVolume({ change, cloud }: MadeChange): Promise<Finding[]> {
  if (change.action !== 'create' || change.type !== 'volume') return [];
  const { volumeType, availabilityZone, name } = change.thing;
  const findings: Finding[] = [];
  if (volumeType !== undefined && !(await offersOf(cloud.openstack).volumeTypes()).has(volumeType)) {
    const message = `volume ${name}: there is no volume type "${volumeType}"; name another in the type of rootVolume or of the block device`;
    findings.push({ severity: 'error', message });
  }
  if (availabilityZone !== undefined && !(await offersOf(cloud.openstack).volumeZones()).has(availabilityZone)) {
    const message = `volume ${name}: there is no availability zone "${availabilityZone}" for volumes; name another, or leave it to the cloud`;
    findings.push({ severity: 'error', message });
  }
  return findings;
}

/** Warns about duplicate names. OpenStack allows them, but people and other programs confuse the resources. */
export async function checkName({ change, cloud }: MadeChange): Promise<Finding[]> {
  if (change.action !== 'create') return [];
  const { type, thing } = change;
  if (type !== 'network' && type !== 'router' && type !== 'securityGroup' && type !== 'loadBalancer') return [];
  const same = (await cloud.all(type)).find(
    (one) =>
      one.id !== thing.id && one.name === thing.name && one.projectId === cloud.projectId && !cloud.isNew(one.id),
  );
  if (!same) return [];
  const what = words[type];
  const message = `there is a ${what} ${thing.name} (${same.id}) in the project already, which is not this cluster's: a second one of that name would be made; delete the other, or give the cluster another name or namespace`;
  return [{ severity: 'warning', message }];
}

const words = {
  network: 'network',
  router: 'router',
  securityGroup: 'security group',
  loadBalancer: 'load balancer',
} as const;

async function found<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isOpenStackError(error, 'notFound')) return undefined;
    throw error;
  }
}
