import {
  Clusters,
  compareKubernetesVersions,
  type Machine,
  type MachineDeployment,
  MachineDeployments,
  Machines,
  parseKubernetesVersion,
  topologyDeploymentNameLabel,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import type { UnstructuredObject } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import {
  controlPlaneVersions,
  isDeleting,
  isUpdatingInPlace,
  ownerOf,
  type ProviderObject,
  textAt,
} from '../../shared/index.ts';
import { byTopologyCluster, indexValue, type TopologyCluster } from '../common.ts';
import type { PlaneState, WorkerState } from '../upgrade/sequence.ts';

/** Lists the topology's MachineDeployments by topology name, without those being deleted. */
export function deploymentsOf(
  { cache }: Pick<ReconcileContext, 'cache'>,
  cluster: TopologyCluster,
): { current: Map<string, MachineDeployment>; all: MachineDeployment[] } {
  const all = ofCluster(cache.lister(MachineDeployments).byIndex(byTopologyCluster, keyOf(cluster)), cluster);
  const current = new Map<string, MachineDeployment>();
  for (const deployment of all) {
    const name = deployment.metadata.labels?.[topologyDeploymentNameLabel];
    if (name !== undefined && !isDeleting(deployment)) current.set(name, deployment);
  }
  return { current, all };
}

const keyOf = ({ metadata }: TopologyCluster): string =>
  indexValue({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });

/** Security: anyone can set labels, so an object must also be owned by the Cluster before it is changed or deleted. */
function ofCluster(deployments: readonly MachineDeployment[], cluster: TopologyCluster): MachineDeployment[] {
  return deployments.filter(
    (deployment) =>
      deployment.metadata.labels?.[topologyOwnedLabel] !== undefined &&
      ownerOf(deployment, Clusters)?.uid === cluster.metadata.uid,
  );
}

export function planeStateOf(provider: ProviderObject): PlaneState {
  const { object } = provider;
  const version = textAt(object, 'spec', 'version') ?? '';
  const running = runningVersions(provider);
  return {
    kind: object.kind,
    version,
    isProvisioning: running.length === 0,
    isUpgrading: running.some((one) => isLower(one, version)),
  };
}

function runningVersions(provider: ProviderObject): string[] {
  const versions = controlPlaneVersions(provider)?.map(({ version }) => version);
  if (versions) return versions;
  const version = textAt(provider.object as UnstructuredObject, 'status', 'version');
  return version === undefined ? [] : [version];
}

function isLower(a: string, b: string): boolean {
  const [left, right] = [parseKubernetesVersion(a), parseKubernetesVersion(b)];
  return left !== undefined && right !== undefined && compareKubernetesVersions(left, right) < 0;
}

/**
 * Returns the state of workers: upgrading while a machine's version differs from its MachineDeployment's. During an
 * in-place update, the spec has the new version before the machine does.
 */
export function workerStatesOf(
  { cache }: Pick<ReconcileContext, 'cache'>,
  cluster: TopologyCluster,
  deployments: ReadonlyMap<string, MachineDeployment>,
): Map<string, WorkerState> {
  const machines = new Map<string, Machine[]>();
  for (const machine of cache.lister(Machines).byIndex(byTopologyCluster, keyOf(cluster))) {
    const name = machine.metadata.labels?.[topologyDeploymentNameLabel];
    if (name === undefined) continue;
    const list = machines.get(name);
    if (list) list.push(machine);
    else machines.set(name, [machine]);
  }
  const states = new Map<string, WorkerState>();
  for (const [name, { metadata, spec }] of deployments) {
    const version = spec.template.spec.version ?? '';
    states.set(name, {
      name: metadata.name ?? '',
      version,
      isUpgrading: (machines.get(name) ?? []).some(
        (machine) => machine.spec.version !== version || isUpdatingInPlace(machine),
      ),
    });
  }
  return states;
}
