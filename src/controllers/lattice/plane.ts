import { KubeadmControlPlanes, type LatticeSettings, latticeNamespace, RKE2ControlPlanes } from '../../api/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import { controlPlaneName } from './names.ts';

/** Machine counts as reported by the control plane's controller. */
export interface PlaneCounts {
  readonly replicas: number;
  readonly ready: number;
  readonly upToDate: number;
}

/** Returns undefined if there is no control plane, or its status is outdated. */
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
