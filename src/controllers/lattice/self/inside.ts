import { type LatticeCluster, LatticeClusters } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { CapstanError } from '../../../machinery/index.ts';
import { clusterId, pausedAnnotation } from '../../shared/index.ts';
import { latticeFinalizer } from '../names.ts';
import { imageAnnotation, parentAnnotation } from './names.ts';

/** Value of the paused annotation while the objects are being moved. */
export const handedOver = 'pivot';

/** Builds the LatticeCluster inside its own cluster, paused until all objects are there, with the uid of its parent. */
export async function objectInside(
  parent: Client,
  cluster: LatticeCluster,
  signal: AbortSignal,
): Promise<LatticeCluster> {
  const { name = '', labels, annotations = {} } = cluster.metadata;
  const image = annotations[imageAnnotation];
  return {
    apiVersion: cluster.apiVersion,
    kind: cluster.kind,
    metadata: {
      name,
      ...(labels && { labels }),
      finalizers: [latticeFinalizer],
      annotations: {
        ...(image !== undefined && { [imageAnnotation]: image }),
        [parentAnnotation]: await clusterId(parent, signal),
        [pausedAnnotation]: handedOver,
      },
    },
    spec: cluster.spec,
  };
}

/** Refuses a cluster that records the uid of a different parent. */
export async function refuseOtherParent(parent: Client, inside: LatticeCluster, signal: AbortSignal): Promise<void> {
  const { name, annotations } = inside.metadata;
  const owner = annotations?.[parentAnnotation];
  if (owner === (await clusterId(parent, signal))) return;
  throw new CapstanError(
    'CAP_MOVE',
    owner === undefined
      ? `the cluster has a ${LatticeClusters.kind} ${name} that was not put there by a parent`
      : `the cluster belongs to another parent, whose kube-system has the uid ${owner}`,
    {
      hint: `delete ${LatticeClusters.kind} ${name} in one of the two parents; ${parentAnnotation} in the cluster names the one it obeys`,
    },
  );
}
