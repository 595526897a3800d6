import type { Member } from '../../../openstack/index.ts';

/** Memory about the API ingress of one cluster. Losing it only costs requests. */
export interface ClusterMemory {
  /** pool ids by name; shared by all machines */
  pools: Promise<ReadonlyMap<string, string>> | undefined;
  /** members of a pool as of the load balancer's last change */
  readonly members: Map<string, { readonly asOf: string; readonly list: Promise<readonly Member[]> }>;
  /** a change of the load balancer is in progress */
  isChanging: boolean;
  /** floating IP of the API */
  floatingIp: { readonly address: string; readonly id: string } | undefined;
  isMoving: boolean;
  /** an address found not to be a floating IP of the project, how long to trust that, and whether it was one before */
  noFloatingIp: { readonly address: string; readonly untilMs: number; readonly wasThere: boolean } | undefined;
  /** server groups being created, by name: Nova allows duplicate names */
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
