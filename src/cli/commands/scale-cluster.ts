import {
  type Cluster,
  type ClusterClass,
  clusterNameLabel,
  MachineDeployments,
  replicasVariableAnnotation,
  type Topology,
} from '../../api/index.ts';
import { asUnstructured, CapstanError, isJsonObject } from '../../machinery/index.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { classOf, variablesOf } from '../topology/class-of.ts';
import { type Change, editTopology, printChanges, readClusterObject } from '../topology/edit-cluster.ts';
import { machineDeploymentOf } from '../topology/machine-deployment.ts';

export interface ScaleClusterOptions extends ConnectionOptions {
  controlPlane?: string;
  machineDeployment?: string;
  replicas?: string;
  dryRun?: boolean;
}

interface Target {
  controlPlane?: number;
  workers?: { name: string; replicas: number };
}

/** Sets the replicas of a control plane, a machine deployment, or both. */
export async function scaleCluster(
  options: ScaleClusterOptions,
  context: CommandContext,
  name: string,
): Promise<number> {
  const target = targetOf(options);
  const dryRun = options.dryRun ?? false;
  return await withConnection(options, context, async (connection) => {
    const { signal } = context;
    const cluster = await readClusterObject(connection, name, signal);
    const changes = cluster.spec.topology
      ? await editTopology(
          connection,
          name,
          async (topology) => scaleTopology(topology, await classOf(connection, topology, signal), target),
          { dryRun, signal },
        )
      : await scaleObjects(connection, cluster, target, { dryRun, signal });
    printChanges(context, name, changes, dryRun);
    return 0;
  });
}

function targetOf({ controlPlane, machineDeployment, replicas }: ScaleClusterOptions): Target {
  if ((machineDeployment === undefined) !== (replicas === undefined)) {
    throw usage('--machine-deployment and --replicas belong together');
  }
  if (controlPlane === undefined && machineDeployment === undefined) throw usage('nothing is named to scale');
  return {
    ...(controlPlane !== undefined && { controlPlane: count('--control-plane', controlPlane) }),
    ...(machineDeployment !== undefined && {
      workers: { name: machineDeployment, replicas: count('--replicas', replicas ?? '') },
    }),
  };
}

function count(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw usage(`${flag}: "${text}" is not a number of machines`);
  return Number(text);
}

function usage(problem: string): CapstanError {
  return new CapstanError('CAP_USAGE', problem, {
    hint: 'write --control-plane N, or --machine-deployment NAME --replicas N',
  });
}

function scaleTopology(topology: Topology, known: ClusterClass | undefined, target: Target): Change[] {
  const changes: Change[] = [];
  if (target.controlPlane !== undefined) changes.push(...scaleControlPlane(topology, known, target.controlPlane));
  if (target.workers) {
    const entry = machineDeploymentOf(topology, target.workers.name);
    changes.push(replicasChange(`machineDeployment ${entry.name} replicas`, entry.replicas, target.workers.replicas));
    entry.replicas = target.workers.replicas;
  }
  return changes;
}

/** A class may take the replicas from a variable, which then overrides the field. */
function scaleControlPlane(topology: Topology, known: ClusterClass | undefined, replicas: number): Change[] {
  const changes: Change[] = [];
  const variable = known?.metadata.annotations?.[replicasVariableAnnotation];
  const entry = topology.variables?.find(({ name }) => name === variable);
  const hasDefault = known && variable !== undefined && variablesOf(known).get(variable)?.default !== undefined;
  const isDecidedByDefault = hasDefault && topology.controlPlane?.replicas === undefined;
  if (variable !== undefined && (entry || isDecidedByDefault)) {
    const from = entry === undefined ? undefined : String(entry.value);
    changes.push({ what: `variable ${variable}`, from, to: String(replicas) });
    if (entry) entry.value = replicas;
    else topology.variables = [...(topology.variables ?? []), { name: variable, value: replicas }];
    if (topology.controlPlane?.replicas === undefined) return changes;
  }
  changes.push(replicasChange('controlPlane.replicas', topology.controlPlane?.replicas, replicas));
  topology.controlPlane = { ...topology.controlPlane, replicas };
  return changes;
}

function replicasChange(what: string, from: number | undefined, to: number): Change {
  return { what, from: from === undefined ? undefined : String(from), to: String(to) };
}

/** Scales a cluster without topology: its control plane and MachineDeployments have replica fields of their own. */
async function scaleObjects(
  { client, mapper, namespace }: Connection,
  { metadata, spec }: Cluster,
  { controlPlane, workers }: Target,
  { dryRun, signal }: { dryRun: boolean; signal: AbortSignal },
): Promise<Change[]> {
  const changes: Change[] = [];
  const by = { fieldManager: 'capstan', dryRun, signal };
  if (controlPlane !== undefined) {
    const reference = spec.controlPlaneRef;
    const resource =
      reference && (await mapper.forKind({ group: reference.apiGroup, kind: reference.kind }, { signal }));
    if (!reference || !resource) throw usage(`cluster "${metadata.name}" has no control plane that can be scaled`);
    const key = { namespace, name: reference.name };
    const before = asUnstructured(await client.get(resource, key, { signal }))['spec'];
    const from = isJsonObject(before) && typeof before['replicas'] === 'number' ? before['replicas'] : undefined;
    await client.patch(resource, key, 'merge', { spec: { replicas: controlPlane } }, by);
    changes.push(replicasChange(`${reference.kind} ${reference.name} replicas`, from, controlPlane));
  }
  if (workers) {
    const labelSelector = `${clusterNameLabel}=${metadata.name}`;
    const { items } = await client.list(MachineDeployments, { namespace, labelSelector, signal });
    const found = items.find((one) => one.metadata.name === workers.name);
    if (!found) {
      throw new CapstanError('CAP_USAGE', `cluster "${metadata.name}" has no MachineDeployment "${workers.name}"`, {
        hint: items.length === 0 ? 'it has none at all' : `it has ${items.map((one) => one.metadata.name).join(', ')}`,
      });
    }
    const key = { namespace, name: workers.name };
    await client.patch(MachineDeployments, key, 'merge', { spec: { replicas: workers.replicas } }, by);
    changes.push(replicasChange(`MachineDeployment ${workers.name} replicas`, found.spec.replicas, workers.replicas));
  }
  return changes;
}
