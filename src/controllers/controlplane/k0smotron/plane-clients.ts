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

/** The ways into the clusters of planes, also of those that belong to no Cluster. */
export interface PlaneClients {
  /** throws WorkloadNotConnectedError */
  client(plane: K0smotronCluster): Client;
  /** Tries the way that the kubeconfig of a plane shows, where nobody else does. Answers when to look again. */
  refresh(plane: K0smotronCluster, context: ReconcileContext): Promise<Result>;
  forget(key: ObjectKey): void;
}

/** Whether a K0smotronControlPlane has made it; otherwise it is a user's. */
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
