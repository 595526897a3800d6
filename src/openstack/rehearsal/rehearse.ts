import type { Flavor } from '../compute/flavors.ts';
import type { Image } from '../image/images.ts';
import type { ObservedType, ObservedTypes } from '../observation/types.ts';
import type { OpenStack } from '../openstack.ts';
import { collect } from '../resource/pages.ts';
import { type CloudChange, createJournal } from './changes.ts';
import { computeTables, rehearsedCompute } from './compute.ts';
import { loadBalancerTables, rehearsedLoadBalancer } from './load-balancer.ts';
import { networkTables, rehearsedNetwork } from './network.ts';
import type { Rehearsal } from './rehearsal.ts';
import { createTable, idMaker, isMadeHere, readFrom, rehearsedPart, type Table } from './table.ts';
import { rehearsedVolume, volumeTables } from './volume.ts';

/** A cloud without side effects: requested changes are recorded, and later reads behave as if they were done. */
export interface RehearsedCloud {
  /** reads the real cloud, each list once, and changes nothing in it */
  readonly openstack: OpenStack;
  readonly projectId: string;
  /** changes that would have been requested, in order */
  readonly changes: readonly CloudChange[];
  /** without a request: also undefined for resources that have not been read */
  current<K extends ObservedType>(type: K, id: string): ObservedTypes[K] | undefined;
  all<K extends ObservedType>(type: K): Promise<readonly ObservedTypes[K][]>;
  /** whether all resources of a type were read, so that missing ones do not exist */
  isRead(type: ObservedType): boolean;
  /** created in this rehearsal */
  isNew(id: string): boolean;
}

type ObservedTables = { readonly [K in ObservedType]: Table<ObservedTypes[K]> };

/** The address a cloud will choose is unknown. These belong to the benchmark range (RFC 2544) and are never shown. */
function addressMaker(): () => string {
  let count = 0;
  return () => {
    count++;
    return `198.18.${(count >> 8) % 256}.${count % 256}`;
  };
}

export const isRehearsedAddress = (address: string): boolean => address.startsWith('198.18.');

export async function rehearse(
  cloud: OpenStack,
  options: { readonly signal?: AbortSignal } = {},
): Promise<RehearsedCloud> {
  const projectId = await cloud.projectId(options.signal);
  const journal = createJournal();
  const rehearsal: Rehearsal = {
    projectId,
    journal,
    newId: idMaker(),
    newAddress: addressMaker(),
    now: () => new Date(cloud.clock.now()).toISOString(),
    isNew: isMadeHere,
  };
  const network = networkTables(cloud, projectId);
  const compute = computeTables(cloud);
  const volume = volumeTables(cloud);
  const loadBalancer = loadBalancerTables(cloud);
  const flavors: Table<Flavor> = createTable({
    service: 'compute',
    kind: 'flavor',
    load: () => collect(cloud.compute.flavors.list()),
  });
  const observed: ObservedTables = {
    server: compute.servers,
    port: network.ports,
    volume: volume.volumes,
    loadBalancer: loadBalancer.loadBalancers,
    floatingIp: network.floatingIps,
    network: network.networks,
    router: network.routers,
    securityGroup: network.securityGroups,
  };
  const images = new Map<string, Promise<Image>>();
  const rehearsedComputing = rehearsedCompute(cloud.compute, { ...compute, ...network, ...volume }, rehearsal);
  const openstack: OpenStack = {
    ...cloud,
    network: rehearsedNetwork(cloud.network, network, rehearsal),
    compute: rehearsedPart(rehearsedComputing, {
      flavors: rehearsedPart(cloud.compute.flavors, readFrom({ service: 'compute', kind: 'flavors' }, flavors)),
    }),
    image: rehearsedPart(cloud.image, {
      images: rehearsedPart(cloud.image.images, {
        get(id) {
          const known = images.get(id) ?? cloud.image.images.get(id);
          images.set(id, known);
          return known;
        },
      }),
    }),
    volume: rehearsedVolume(cloud.volume, volume, rehearsal),
    loadBalancer: rehearsedLoadBalancer(cloud.loadBalancer, loadBalancer, rehearsal),
  };
  return {
    openstack,
    projectId,
    changes: journal.changes,
    current: (type, id) => observed[type].current(id),
    all: (type) => observed[type].all(),
    isRead: (type) => observed[type].isRead,
    isNew: isMadeHere,
  };
}
