import { type K0smotronCluster, K0smotronControlPlanes } from '../../../api/index.ts';
import { type Client, type ObjectKey, objectKey } from '../../../client/index.ts';
import { done, type ReconcileContext, type Result } from '../../../runtime/index.ts';
import {
  type ConnectWorkload,
  cachedSecret,
  clusterSecretName,
  ownerOf,
  type WorkloadClusters,
} from '../../shared/index.ts';
import { createPlaneConnections } from '../plane-connections.ts';

/** Clients of the clusters of planes, including standalone planes without a Cluster. */
export interface PlaneClients {
  /** throws WorkloadNotConnectedError */
  client(plane: K0smotronCluster): Client;
  /** Connects to a standalone plane with its own kubeconfig; resolves with the time of the next attempt. */
  refresh(plane: K0smotronCluster, context: ReconcileContext): Promise<Result>;
  forget(key: ObjectKey): void;
}

/** Tells whether a K0smotronControlPlane created the plane; otherwise it is standalone. */
export const isChild = (plane: K0smotronCluster): boolean => ownerOf(plane, K0smotronControlPlanes) !== undefined;

export function createPlaneClients(options: { workloads: WorkloadClusters; connect: ConnectWorkload }): PlaneClients {
  const ways = createPlaneConnections(options.connect);
  return {
    client: (plane) => (isChild(plane) ? options.workloads.client(objectKey(plane)) : ways.client(objectKey(plane))),
    async refresh(plane, context) {
      if (isChild(plane)) return done();
      const key = objectKey(plane);
      const secret = { namespace: key.namespace ?? '', name: clusterSecretName(key.name, 'kubeconfig') };
      return await ways.refresh(key, cachedSecret(context.cache, secret)?.data?.['value'], context);
    },
    forget: ways.forget,
  };
}
