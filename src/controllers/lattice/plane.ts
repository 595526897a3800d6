import { KubeadmControlPlanes, type LatticeSettings, latticeNamespace } from '../../api/index.ts';
import { asUnstructured, ignoreNotFound, isJsonObject, type UnstructuredObject } from '../../machinery/index.ts';
import type { ReconcileContext } from '../../runtime/index.ts';
import { rke2ControlPlanes } from './expand/rke2.ts';
import { controlPlaneName } from './names.ts';

/** How many machines a control plane has, as its own controller counts them. */
export interface PlaneCounts {
  readonly replicas: number;
  readonly ready: number;
  readonly upToDate: number;
}

/** Undefined: there is none, or its controller has not seen what was asked of it last. */
export async function readPlane(
  context: ReconcileContext,
  cluster: string,
  { bootstrap }: LatticeSettings,
): Promise<PlaneCounts | undefined> {
  const key = { namespace: latticeNamespace(cluster), name: controlPlaneName(cluster) };
  const plane =
    bootstrap === 'rke2' ? await rke2Plane(context, key) : context.cache.lister(KubeadmControlPlanes).get(key);
  if (!plane) return undefined;
  const { status, metadata } = asUnstructured(plane);
  if (!isJsonObject(status) || status['observedGeneration'] !== metadata.generation) return undefined;
  const count = (...names: string[]): number => {
    const values = names.map((name) => status[name]).filter((value) => typeof value === 'number');
    return values[0] ?? 0;
  };
  // v1beta1 calls those that are up to date updated
  const upToDate = count('upToDateReplicas', 'updatedReplicas');
  return { replicas: count('replicas'), ready: count('readyReplicas'), upToDate };
}

async function rke2Plane(
  { client, signal }: ReconcileContext,
  key: { namespace: string; name: string },
): Promise<UnstructuredObject | undefined> {
  const found = await client.get(rke2ControlPlanes, key, { signal }).catch(ignoreNotFound);
  return found && asUnstructured(found);
}
