import type { OpenStackCluster, OpenStackServer } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { OpenStack } from '../../../openstack/index.ts';
import type { ClusterObjects } from '../../describe/cluster-objects.ts';
import type { AnyObject } from '../../describe/fields.ts';

/** A cluster in the management API. */
export interface ManagedCluster {
  readonly name: string;
  readonly namespace: string;
  readonly client: Client;
  readonly found: ClusterObjects;
  readonly machines: readonly AnyObject[];
  readonly nowMs: number;
}

/** A cluster and the project of its resources. */
export interface ClusterInCloud extends ManagedCluster {
  readonly cloud: OpenStack;
  readonly infrastructure: OpenStackCluster;
  readonly servers: readonly OpenStackServer[];
}

/** A cluster and its own API. */
export interface RunningCluster extends ManagedCluster {
  readonly workload: Client;
  /** reads a path whose response is no object, such as /readyz */
  readonly read: (path: string, signal: AbortSignal) => Promise<string>;
  /** URL of the cluster's cloud; credentials from inside the cluster are only tried against this URL */
  readonly authUrl: string | undefined;
}
