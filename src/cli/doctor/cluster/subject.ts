import type { OpenStackCluster, OpenStackServer } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { OpenStack } from '../../../openstack/index.ts';
import type { ClusterObjects } from '../../describe/cluster-objects.ts';
import type { AnyObject } from '../../describe/fields.ts';

/** A cluster as the management API has it. */
export interface ManagedCluster {
  readonly name: string;
  readonly namespace: string;
  readonly client: Client;
  readonly found: ClusterObjects;
  readonly machines: readonly AnyObject[];
  readonly nowMs: number;
}

/** The same with the project it has its resources in. */
export interface ClusterInCloud extends ManagedCluster {
  readonly cloud: OpenStack;
  readonly infrastructure: OpenStackCluster;
  readonly servers: readonly OpenStackServer[];
}

/** The same with its own API. */
export interface RunningCluster extends ManagedCluster {
  readonly workload: Client;
  /** an answer that is no object, such as that of /readyz */
  readonly read: (path: string, signal: AbortSignal) => Promise<string>;
  /** credentials found inside of it are tried only where these lead, too */
  readonly authUrl: string | undefined;
}
