import type { Image as ImageObject, ImageParam } from '../../../api/index.ts';
import { collect, type Flavor, type Image, type OpenStack } from '../../../openstack/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { resolveNetwork, resolveSecurityGroups, resolveServerGroup, resolveSubnet } from '../common/filters.ts';
import { UnusableInput } from '../common/outcomes.ts';
import { Awaited, dependencyFailedReason } from './conditions.ts';
import type { Finder } from './finder.ts';
import type { LookupCache } from './lookup-cache.ts';

export interface CloudFinderOptions {
  readonly openstack: OpenStack;
  readonly projectId: string;
  readonly cache: LookupCache;
  /** ORC Image by name, in the server's namespace */
  imageObject(name: string): ImageObject | undefined;
}

/**
 * Looks up names in a cloud. Ids are not verified, because Nova reports an unknown id itself. Results are cached
 * briefly for all servers of the cloud.
 */
export function createCloudFinder(options: CloudFinderOptions): Finder {
  const { openstack, projectId, imageObject } = options;
  const remembered = <T>(kind: string, param: object, load: () => Promise<T>): Promise<T> =>
    remember(options, kind, param, load);
  return {
    async flavor({ id, name }) {
      return id ?? (await findFlavor(options, { name })).id;
    },
    async image(param) {
      if (param.id !== undefined) return param.id;
      if (param.imageRef) return imageOfObject(param.imageRef.name, imageObject(param.imageRef.name));
      return (await findImage(options, param)).id;
    },
    async network(param) {
      if (param.id !== undefined) return param.id;
      if (!param.filter) throw new UnusableInput('spec.ports: a port names no network; name one by id or filter');
      return await remembered(
        'network',
        param,
        async () => (await resolveNetwork(openstack, param, { field: 'spec.ports.network' })).id,
      );
    },
    async subnet(param, networkId) {
      if (param.id !== undefined) return param.id;
      return await remembered(
        'subnet',
        { param, networkId },
        async () => (await resolveSubnet(openstack, param, { field: 'spec.ports.fixedIPs.subnet', networkId })).id,
      );
    },
    async securityGroups(param) {
      if (param.id !== undefined) return [param.id];
      return await remembered('security group', param, async () =>
        (await resolveSecurityGroups(openstack, param, { field: 'spec.ports.securityGroups', projectId })).map(
          ({ id }) => id,
        ),
      );
    },
    async serverGroup(param) {
      if (param.id !== undefined) return param.id;
      return await remembered(
        'server group',
        param,
        async () => (await resolveServerGroup(openstack, param, { field: 'spec.serverGroup' })).id,
      );
    },
  };
}

type Lookups = Pick<CloudFinderOptions, 'openstack' | 'cache'>;

function remember<T>({ openstack, cache }: Lookups, kind: string, param: object, load: () => Promise<T>): Promise<T> {
  return cache.get(openstack, `${kind} ${JSON.stringify(param)}`, load);
}

/** Finds a flavor with details, by id or name. */
export function findFlavor(
  lookups: Lookups,
  { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
): Promise<Flavor> {
  const { openstack } = lookups;
  return id === undefined
    ? remember(lookups, 'flavor', { name }, () => flavorByName(openstack, name ?? ''))
    : remember(lookups, 'flavor', { id }, () => openstack.compute.flavors.get(id));
}

/** Finds an image with details, by id or filter. */
export function findImage(lookups: Lookups, { id, filter }: Pick<ImageParam, 'id' | 'filter'>): Promise<Image> {
  const { openstack } = lookups;
  return id === undefined
    ? remember(lookups, 'image', { filter }, () => imageByFilter(openstack, filter))
    : remember(lookups, 'image', { id }, () => openstack.image.images.get(id));
}

async function flavorByName({ compute }: OpenStack, name: string): Promise<Flavor> {
  for await (const flavor of compute.flavors.list()) if (flavor.name === name) return flavor;
  throw new UnusableInput(
    `spec.flavor: there is no flavor named ${JSON.stringify(name)} that this project may use; correct the name, or have the flavor made or shared`,
    { reason: dependencyFailedReason },
  );
}

async function imageByFilter({ image }: OpenStack, filter: ImageParam['filter'] = {}): Promise<Image> {
  const { name, tags } = filter;
  const wanted = { ...(name !== undefined && { name }), ...(tags && { tags }) };
  // Glance compares names without case
  const found = (await collect(image.images.list(wanted))).filter((one) => name === undefined || one.name === name);
  const [first, ...others] = found;
  const words = [
    ...(name === undefined ? [] : [`named ${JSON.stringify(name)}`]),
    ...(tags ? [`tagged ${tags.join(', ')}`] : []),
  ].join(' and ');
  if (!first) {
    throw new UnusableInput(
      `spec.image: there is no image ${words} that this project may use; correct the filter, or upload or share the image`,
      { reason: dependencyFailedReason },
    );
  }
  if (others.length === 0) return first;
  const ids = found.slice(0, 5).map(({ id }) => id);
  throw new UnusableInput(
    `spec.image: ${found.length} images are ${words} (${ids.join(', ')}${found.length > 5 ? ', …' : ''}); name one by its id, or narrow the filter`,
    { reason: dependencyFailedReason },
  );
}

/** Reasons by which ORC reports that a retry does not help. */
const terminalReasons: readonly string[] = ['InvalidConfiguration', 'UnrecoverableError'];

function imageOfObject(name: string, image: ImageObject | undefined): string {
  if (!image) throw new Awaited(`Waiting for Image ${name} to be created`);
  const progressing = conditionOf(image, 'Progressing');
  if (progressing?.status === 'False' && terminalReasons.includes(progressing.reason)) {
    throw new UnusableInput(
      `spec.image.imageRef: Image ${name} failed: ${progressing.message ?? progressing.reason}; correct the Image, or name another`,
      { reason: dependencyFailedReason },
    );
  }
  const { id } = image.status ?? {};
  if (conditionOf(image, 'Available')?.status === 'True' && id !== undefined) return id;
  const why = progressing?.message === undefined || progressing.message === '' ? '' : `: ${progressing.message}`;
  throw new Awaited(`Waiting for Image ${name} to be available${why}`);
}
