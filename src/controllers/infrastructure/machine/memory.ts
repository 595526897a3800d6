import type { Member } from '../../../openstack/index.ts';

/** What this process knows of the way to one cluster's API. Losing it costs requests, nothing else. */
export interface ClusterMemory {
  /** ids of the load balancer's pools, by name; one list for all machines */
  pools: Promise<ReadonlyMap<string, string>> | undefined;
  /** members of a pool, as they were when the load balancer last changed at `asOf` */
  readonly members: Map<string, { readonly asOf: string; readonly list: Promise<readonly Member[]> }>;
  /** somebody is changing the load balancer */
  isChanging: boolean;
  /** the API's floating IP */
  floatingIp: { readonly address: string; readonly id: string } | undefined;
  /** somebody is giving the floating IP to another machine */
  isMoving: boolean;
  /** an address that is no floating IP of the project, until when that is believed, and whether it was one before */
  noFloatingIp: { readonly address: string; readonly untilMs: number; readonly wasThere: boolean } | undefined;
  /** server groups being made, by name: nova would make two of the same name */
  readonly serverGroups: Map<string, Promise<string>>;
}

/** Memories by uid of the OpenStackCluster. */
export interface ClusterMemories {
  of(uid: string): ClusterMemory;
  forget(uid: string): void;
}

export function createClusterMemories(): ClusterMemories {
  const memories = new Map<string, ClusterMemory>();
  return {
    of(uid) {
      let memory = memories.get(uid);
      if (!memory) {
        memory = {
          pools: undefined,
          members: new Map(),
          isChanging: false,
          floatingIp: undefined,
          isMoving: false,
          noFloatingIp: undefined,
          serverGroups: new Map(),
        };
        memories.set(uid, memory);
      }
      return memory;
    },
    forget: (uid) => void memories.delete(uid),
  };
}
