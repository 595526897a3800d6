import {
  type Cluster,
  Clusters,
  clusterNameLabel,
  type KubeadmConfig,
  KubeadmConfigs,
  KubeadmControlPlanes,
  type Machine,
  MachineDeployments,
  MachineSets,
  Machines,
} from '../../api/index.ts';
import type { Client, RestMapper } from '../../client/index.ts';
import { findRevisions, kubeadmProvider, planTopology, rolloutReasons } from '../../controllers/index.ts';
import {
  type Clock,
  errorMessage,
  isNotFound,
  type KubeObject,
  type Random,
  type Resource,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { listed } from './listed.ts';

/** Predicted decisions of the controllers for the machines of one cluster. */
export interface ClusterForecast {
  readonly namespace: string;
  readonly name: string;
  readonly machines: number;
  /** machines that would be replaced, and the reasons */
  readonly rolled: readonly { readonly machine: string; readonly because: readonly string[] }[];
  /** other objects that the topology would create or change */
  readonly changes: readonly string[];
  /** why no forecast is possible */
  readonly problem?: string;
}

export interface ForecastIo {
  readonly client: Client;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Uses the functions of the controllers without storing anything. */
export async function forecastRollouts(io: ForecastIo): Promise<ClusterForecast[]> {
  const [clusters, machines] = [
    await listed(io.client, Clusters, io.signal),
    await listed(io.client, Machines, io.signal),
  ];
  const forecasts: ClusterForecast[] = [];
  for (const cluster of clusters) {
    const { namespace = '', name = '' } = cluster.metadata;
    const own = machines.filter(({ metadata, spec }) => metadata.namespace === namespace && spec.clusterName === name);
    const about = { namespace, name, machines: own.length };
    try {
      forecasts.push({ ...about, ...(await forecastOf(io, cluster, own)) });
    } catch (error) {
      if (io.signal.aborted) throw error;
      forecasts.push({ ...about, rolled: [], changes: [], problem: errorMessage(error) });
    }
  }
  return forecasts;
}

async function forecastOf(
  io: ForecastIo,
  cluster: Cluster,
  machines: readonly Machine[],
): Promise<Pick<ClusterForecast, 'rolled' | 'changes'>> {
  const { namespace = '', name = '' } = cluster.metadata;
  const rolled = [
    ...(await controlPlaneRollouts(io, cluster, machines)),
    ...(await deploymentRollouts(io, cluster, machines)),
  ];
  const changes: string[] = [];
  if (cluster.spec.topology) {
    const plan = await planTopology(io, { namespace, name });
    for (const { action, kind, name: object, fields, rolls } of plan.objects) {
      if (action === 'unchanged') continue;
      const because = fields.length > 0 ? fields : [action];
      changes.push(`${action} ${kind} ${object}: ${because.join(', ')}`);
      if (rolls) rolled.push({ machine: `${rolls.machines ?? 'all'} of ${kind} ${object}`, because: rolls.because });
    }
  }
  return { rolled, changes };
}

async function controlPlaneRollouts(
  io: ForecastIo,
  { metadata, spec }: Cluster,
  machines: readonly Machine[],
): Promise<ClusterForecast['rolled'][number][]> {
  const reference = spec.controlPlaneRef;
  if (reference?.kind !== KubeadmControlPlanes.kind) return [];
  const { namespace = '' } = metadata;
  const controlPlane = await found(io, KubeadmControlPlanes, { namespace, name: reference.name });
  if (!controlPlane) return [];
  const rolled: ClusterForecast['rolled'][number][] = [];
  for (const machine of machines.filter((one) => isOwned(one, controlPlane))) {
    const because = rolloutReasons({
      provider: kubeadmProvider,
      controlPlane,
      machine,
      config: await configOf(io, machine),
      infrastructure: await infrastructureOf(io, machine),
      nowMs: io.clock.now(),
    });
    if (because.length > 0) rolled.push({ machine: machine.metadata.name ?? '', because });
  }
  return rolled;
}

async function deploymentRollouts(
  { client, clock, signal }: ForecastIo,
  { metadata }: Cluster,
  machines: readonly Machine[],
): Promise<ClusterForecast['rolled'][number][]> {
  const { namespace = '', name = '' } = metadata;
  const mine = { namespace, labelSelector: `${clusterNameLabel}=${name}`, signal };
  const { items: deployments } = await client.list(MachineDeployments, mine);
  const { items: sets } = await client.list(MachineSets, mine);
  return deployments.flatMap((deployment) => {
    const own = sets.filter((set) => isOwned(set, deployment));
    const { old } = findRevisions(deployment, own, clock.now());
    const because = [`MachineDeployment ${deployment.metadata.name} would roll them out again`];
    return machines
      .filter((machine) => old.some((set) => isOwned(machine, set)))
      .map((machine) => ({ machine: machine.metadata.name ?? '', because }));
  });
}

function isOwned({ metadata }: KubeObject, owner: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

async function configOf(io: ForecastIo, { metadata, spec }: Machine): Promise<KubeadmConfig | undefined> {
  const { configRef } = spec.bootstrap;
  if (configRef?.kind !== KubeadmConfigs.kind) return undefined;
  return await found(io, KubeadmConfigs, { namespace: metadata.namespace ?? '', name: configRef.name });
}

async function infrastructureOf(io: ForecastIo, { metadata, spec }: Machine): Promise<UnstructuredObject | undefined> {
  const { apiGroup, kind, name } = spec.infrastructureRef;
  const resource = await io.mapper.forKind({ group: apiGroup, kind }, { signal: io.signal });
  return resource && (await found(io, resource, { namespace: metadata.namespace ?? '', name }));
}

async function found<T extends KubeObject>(
  { client, signal }: ForecastIo,
  resource: Resource<T>,
  key: { namespace: string; name: string },
): Promise<T | undefined> {
  try {
    return await client.get(resource, key, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
