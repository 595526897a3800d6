import { KubeadmControlPlanes, type LatticeSettings, latticeNamespace, RKE2ControlPlanes } from '../../api/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import { controlPlaneName } from './names.ts';

/** How many machines a control plane has, as its own controller counts them. */
export interface PlaneCounts {
  readonly replicas: number;
  readonly ready: number;
  readonly upToDate: number;
}

/** Undefined: there is none, or its controller has not seen what was asked of it last. */
export function readPlane(
  cache: CacheReader,
  cluster: string,
  { bootstrap }: LatticeSettings,
): PlaneCounts | undefined {
  const key = { namespace: latticeNamespace(cluster), name: controlPlaneName(cluster) };
  const plane =
    bootstrap === 'rke2' ? cache.lister(RKE2ControlPlanes).get(key) : cache.lister(KubeadmControlPlanes).get(key);
  const { replicas = 0, readyReplicas = 0, upToDateReplicas = 0, observedGeneration } = plane?.status ?? {};
  if (!plane || observedGeneration !== plane.metadata.generation) return undefined;
  return { replicas, ready: readyReplicas, upToDate: upToDateReplicas };
}
