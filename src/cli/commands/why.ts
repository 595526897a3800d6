import { type LatticeCluster, LatticeClusters, latticeNamespace } from '../../api/index.ts';
import {
  CapstanError,
  formatJson,
  formatYaml,
  humanDuration,
  ignoreNotFound,
  isNotFound,
  type KubeObject,
  parseRfc3339,
  printableLine,
} from '../../machinery/index.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { clusterGroup, readCluster } from '../describe/cluster-objects.ts';
import { textAt } from '../describe/fields.ts';
import { noSuchCluster } from '../no-such-cluster.ts';
import { lookInside } from '../why/cause-inside.ts';
import { type Cause, causeOfCluster, causeOfMachine, causeOfObject } from '../why/first-cause.ts';

export interface WhyOptions extends ConnectionOptions {
  output: 'text' | 'json' | 'yaml';
}

/** Shows the root cause that blocks a cluster or machine. The exit code is 1 if there is one. */
export async function why(
  options: WhyOptions,
  context: CommandContext,
  [first, second]: readonly [string, string | undefined],
): Promise<number> {
  const [kind, name] = second === undefined ? [undefined, first] : [first, second];
  if (kind !== undefined && kind !== 'cluster' && kind !== 'machine') {
    throw new CapstanError('CAP_USAGE', `why ${kind}: only clusters and machines are supported`, {
      hint: 'use capstan why NAME, capstan why cluster NAME or capstan why machine NAME',
    });
  }
  return await withConnection(options, context, async (connection) => {
    const cause = await causeOf(connection, { kind, name }, context);
    const value = { name, ...(cause && { cause: { ...cause } }) };
    if (options.output === 'json') context.stdout(formatJson(value));
    else if (options.output === 'yaml') context.stdout(formatYaml(value));
    else context.stdout(cause ? paragraph(name, cause, context.clock.now()) : `${name}: nothing holds it up\n`);
    return cause ? 1 : 0;
  });
}

async function causeOf(
  connection: Connection,
  { kind, name }: { kind: 'cluster' | 'machine' | undefined; name: string },
  { signal, clock }: CommandContext,
): Promise<Cause | undefined> {
  const nowMs = clock.now();
  if (kind !== 'machine') {
    try {
      return await causeOfWhole(connection, name, { nowMs, signal });
    } catch (error) {
      if (!isNoSuchCluster(error)) throw error;
    }
  }
  const lattice = kind === 'machine' ? undefined : await readLattice(connection, name, signal);
  if (lattice) return await causeOfLattice(connection, lattice, { nowMs, signal });
  const machine = await readMachine(connection, name, signal);
  if (!machine) {
    if (kind !== 'machine') throw noSuchCluster(name, connection.namespace);
    throw new CapstanError(
      'CAP_CLUSTER_NOT_FOUND',
      `there is no Machine "${name}" in the namespace "${connection.namespace}"`,
      {
        hint: '`kubectl get machines` lists the existing ones',
      },
    );
  }
  const cluster = textAt(machine, 'spec', 'clusterName') ?? '';
  return causeOfMachine(await readCluster(connection, cluster, { resourceSets: false, signal }), name);
}

/** Returns the cause from the conditions; if all are good, a problem found inside the cluster. */
async function causeOfWhole(
  connection: Connection,
  name: string,
  { nowMs, signal }: { nowMs: number; signal: AbortSignal },
): Promise<Cause | undefined> {
  const found = await readCluster(connection, name, { resourceSets: false, signal });
  const cause = causeOfCluster(found);
  if (cause) return cause;
  const machines = found.objects.filter(({ kind }) => kind === 'Machine');
  const { client, namespace } = connection;
  return await lookInside({ name, namespace, client, found, machines, nowMs }, signal);
}

const isNoSuchCluster = (error: unknown): boolean =>
  error instanceof CapstanError && error.code === 'CAP_CLUSTER_NOT_FOUND';

/** Reads a LatticeCluster. The kind is cluster-scoped, and users know clusters by name. */
async function readLattice(
  { client }: Connection,
  name: string,
  signal: AbortSignal,
): Promise<LatticeCluster | undefined> {
  return await client.get(LatticeClusters, { name }, { signal }).catch(ignoreNotFound);
}

/**
 * Returns the cause of the Cluster of a LatticeCluster, or the one of the LatticeCluster while it has no Cluster here.
 */
async function causeOfLattice(
  connection: Connection,
  lattice: LatticeCluster,
  times: { nowMs: number; signal: AbortSignal },
): Promise<Cause | undefined> {
  const { name = '' } = lattice.metadata;
  try {
    const cause = await causeOfWhole({ ...connection, namespace: latticeNamespace(name) }, name, times);
    if (cause) return cause;
  } catch (error) {
    if (!isNoSuchCluster(error)) throw error;
  }
  return causeOfObject({ ...lattice, kind: LatticeClusters.kind }, ['FlavorsRecommended', 'Connected']);
}

async function readMachine(
  { client, mapper, namespace }: Connection,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const machines = await mapper.forKind({ group: clusterGroup, kind: 'Machine' }, { signal });
  if (!machines) return undefined;
  try {
    return await client.get(machines, { namespace, name }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Formats one paragraph: object, reason, time and suggested action. */
function paragraph(name: string, { object, reason, message, next, since }: Cause, nowMs: number): string {
  const at = since === undefined ? undefined : parseRfc3339(since);
  const age = at === undefined ? '' : `, for ${humanDuration(nowMs - at)}`;
  return `${name} waits for ${object} (${reason}${age}): ${printableLine(message)}\nnext: ${printableLine(next)}\n`;
}
