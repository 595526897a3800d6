import { type Cluster, Clusters, type Machine, Machines } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import { createApplyOnce, draftOf, isControlledBy, isDeleting, type RehearsedObjects } from '../../shared/index.ts';
import { mostDuringRollout } from './decisions/rollout.ts';
import { controlPlaneDomains, domainForNewMachine, machineToRemove } from './decisions/selection.ts';
import { createControlPlaneMachine } from './machines/create-machine.ts';
import { readParts } from './machines/read-parts.ts';
import type { PlaneProvider } from './provider.ts';
import { deleteMachine } from './scale.ts';
import { type ControlPlaneScope, nameOf } from './scope.ts';

/** Simulates a control plane that creates or deletes machines while all components are healthy. */
export interface PlaneRehearsal {
  /** `outdated` holds the reasons by machine name; no change was made when `isDone` */
  step(key: ObjectKey): Promise<{ isDone: boolean; outdated: ReadonlyMap<string, readonly string[]> }>;
}

/**
 * Uses the controller's pure decisions and its machine creation. Checks of a running control plane (etcd health, API
 * availability) always succeed.
 */
export function rehearsePlane(provider: PlaneProvider, objects: RehearsedObjects): PlaneRehearsal {
  const { context, client, cache } = objects;
  const follower = objects.externals.follow(() => []);
  const applies = {
    machine: createApplyOnce(provider.manager),
    metadata: createApplyOnce(provider.metadataManager),
  };
  const scopeOf = (controlPlane: ControlPlaneScope['controlPlane'], cluster: Cluster): PlaneScope => ({
    context,
    follower,
    applies,
    cluster,
    provider,
    controlPlane: draftOf(controlPlane),
    machines: client
      .stored(Machines)
      .filter((machine) => isControlledBy(machine, controlPlane))
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    configs: new Map(),
    infrastructure: new Map(),
    outdated: new Map(),
    creationProblem: undefined,
  });
  return {
    async step(key) {
      const controlPlane = cache.lister(provider.resource).get(key);
      const owner = controlPlane?.metadata.ownerReferences?.find(({ kind }) => kind === Clusters.kind);
      const cluster = owner && cache.lister(Clusters).get({ namespace: key.namespace ?? '', name: owner.name });
      if (!controlPlane || !cluster) return { isDone: true, outdated: new Map() };
      const scope = scopeOf(controlPlane, cluster);
      await readParts(scope);
      const { machines, outdated } = scope;
      const isMoved = await change(scope, nextChange(scope));
      // wait for machines being deleted
      return { isDone: !isMoved && !machines.some(isDeleting), outdated };
    },
  };
}

type PlaneScope = Pick<
  ControlPlaneScope,
  | 'context'
  | 'follower'
  | 'applies'
  | 'cluster'
  | 'provider'
  | 'controlPlane'
  | 'machines'
  | 'configs'
  | 'infrastructure'
  | 'outdated'
  | 'creationProblem'
>;

type NextChange = 'add' | 'remove' | undefined;

/** Same order as in the controller: replacements before scaling, and the new machine first if maxSurge allows. */
function nextChange({ machines, outdated, provider, controlPlane }: PlaneScope): NextChange {
  if (machines.some(isDeleting)) return undefined;
  const wanted = controlPlane.spec.replicas ?? 1;
  if (outdated.size > 0 && machines.length > 0) {
    return machines.length < mostDuringRollout(provider.settingsOf(controlPlane), wanted) ? 'add' : 'remove';
  }
  if (machines.length === wanted) return undefined;
  return machines.length < wanted ? 'add' : 'remove';
}

async function change(scope: PlaneScope, next: NextChange): Promise<boolean> {
  const { machines, outdated, cluster } = scope;
  const domains = controlPlaneDomains(cluster.status?.failureDomains);
  if (next === 'add') {
    const failureDomain = domainForNewMachine(domains, machines, new Set(outdated.keys()));
    await createControlPlaneMachine(scope, { role: machines.length === 0 ? 'init' : 'join', failureDomain });
    return true;
  }
  const choice = { machines, outdated: new Set(outdated.keys()), unhealthy: new Set<string>(), domains };
  const leaving: Machine | undefined = next === 'remove' ? machineToRemove(choice) : undefined;
  if (leaving) await deleteMachine(scope, leaving);
  return leaving !== undefined;
}
