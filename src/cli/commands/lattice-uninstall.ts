import {
  type LatticeCluster,
  LatticeClusters,
  latticeNamespace,
  Namespaces,
  type Secret,
  Secrets,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  accessName,
  accessNamespace,
  clusterId,
  latticeFinalizer,
  managementAnnotation,
  parentAnnotation,
} from '../../controllers/index.ts';
import { CapstanError, ignoreNotFound, isAlreadyExists } from '../../machinery/index.ts';
import { withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { parseTimeout } from '../deadline.ts';
import { follow, isUnderWay, noteAddress, underWayAt, withBootstrap } from '../lattice/bootstrap.ts';
import { type TargetOptions, targetApi } from '../target-api.ts';

export interface LatticeUninstallOptions {
  kubeconfig?: string;
  context?: string;
  yes?: boolean;
  timeout: string;
}

const by = { fieldManager: 'capstan' };

/** Takes back a self-managed cluster and deletes it; this program acts as its parent meanwhile. */
export async function latticeUninstall(
  options: LatticeUninstallOptions,
  context: CommandContext,
  name: string | undefined,
): Promise<number> {
  const timeoutMs = parseTimeout(options.timeout);
  // A started uninstall continues without the cluster, which may no longer respond.
  const isBegun = name !== undefined && (await isUnderWay(name, context.env));
  const cluster = isBegun ? name : await nameInside(options, context, name);
  await confirmed(options, context, `Delete the cluster ${cluster} with all of its machines?`);
  return await withBootstrap({ name: cluster, timeoutMs }, context, async (client, signal) => {
    const live = await client.get(LatticeClusters, { name: cluster }, { signal }).catch(ignoreNotFound);
    const isElsewhere = live === undefined || live.metadata.annotations?.[managementAnnotation] === 'self';
    if (isElsewhere && live?.metadata.deletionTimestamp === undefined) {
      await withChild(options, context, async (child) => {
        const inside = await findInside(child, cluster, signal);
        const kubeconfig = await kubeconfigOf(child, cluster, signal);
        await takeOver(client, child, { inside, kubeconfig, signal });
      });
    }
    await client.delete(LatticeClusters, { name: cluster }, { signal }).catch(ignoreNotFound);
    await follow(client, cluster, context, { signal, isDone: (left) => left === undefined });
    context.stdout(`LatticeCluster ${cluster} is deleted\n`);
  });
}

async function withChild<T>(
  options: LatticeUninstallOptions,
  context: CommandContext,
  work: (child: Client) => Promise<T>,
): Promise<T> {
  return await withConnection(whereIs(options), context, ({ client }) => work(client));
}

function whereIs({ kubeconfig, context: chosen }: LatticeUninstallOptions): TargetOptions {
  if (kubeconfig === undefined) {
    throw new CapstanError('CAP_USAGE', 'name a cluster', { hint: 'name its kubeconfig with -k FILE' });
  }
  return { kubeconfig, ...(chosen !== undefined && { context: chosen }) };
}

async function nameInside(
  options: LatticeUninstallOptions,
  context: CommandContext,
  name: string | undefined,
): Promise<string> {
  const { server } = await targetApi(whereIs(options), context.env);
  try {
    const { metadata } = await withChild(options, context, (child) => findInside(child, name, context.signal));
    await noteAddress(metadata.name ?? '', server, context.env);
    return metadata.name ?? '';
  } catch (error) {
    // A cluster that an interrupted uninstall has deleted already does not answer.
    const begun =
      error instanceof CapstanError && error.code === 'CAP_API_UNREACHABLE'
        ? await underWayAt(server, context.env)
        : undefined;
    if (begun === undefined) throw error;
    return begun;
  }
}

/** Finds the LatticeCluster that represents the cluster itself. Parents of other clusters are refused. */
async function findInside(child: Client, name: string | undefined, signal: AbortSignal): Promise<LatticeCluster> {
  const { items } = await child.list(LatticeClusters, { signal });
  const own = items.filter(({ metadata }) => metadata.annotations?.[parentAnnotation] !== undefined);
  const others = items.filter(({ metadata }) => metadata.annotations?.[parentAnnotation] === undefined);
  const found = name === undefined ? own[0] : own.find(({ metadata }) => metadata.name === name);
  if (!found) {
    throw new CapstanError(
      'CAP_LATTICE',
      `the cluster has no LatticeCluster ${name === undefined ? '' : `${name} `}that stands for itself`,
      { hint: 'if its parent manages the cluster, delete it at the parent' },
    );
  }
  const [other] = others;
  if (other) {
    throw new CapstanError('CAP_LATTICE', `the cluster is the parent of LatticeCluster ${other.metadata.name}`, {
      hint: 'nothing was changed; delete it there first',
    });
  }
  return found;
}

async function confirmed(
  { yes }: LatticeUninstallOptions,
  { confirm }: CommandContext,
  question: string,
): Promise<void> {
  if (yes === true || (await confirm?.(question)) === true) return;
  throw new CapstanError('CAP_USAGE', 'nothing was deleted', { hint: 'answer yes, or use --yes' });
}

/** Returns the kubeconfig that the controllers maintain, with the public address. */
async function kubeconfigOf(child: Client, cluster: string, signal: AbortSignal): Promise<string> {
  const key = { namespace: latticeNamespace(cluster), name: `${cluster}-kubeconfig` };
  const { data } = await child.get(Secrets, key, { signal });
  return Buffer.from(data?.['value'] ?? '', 'base64').toString('utf8');
}

/** Becomes the parent: creates the objects of a parent first, then makes the cluster accept it. */
async function takeOver(
  client: Client,
  child: Client,
  { inside, kubeconfig, signal }: { inside: LatticeCluster; kubeconfig: string; signal: AbortSignal },
): Promise<void> {
  const unlessThere = (error: unknown): void => {
    if (!isAlreadyExists(error)) throw error;
  };
  const { apiVersion, kind, spec } = inside;
  const { name = '' } = inside.metadata;
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: accessNamespace } };
  await client.create(Namespaces, home, { ...by, signal }).catch(unlessThere);
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: accessNamespace, name: accessName(name), labels: { 'lattice.dev/cluster': name } },
    data: { value: Buffer.from(kubeconfig).toString('base64') },
  };
  await client.create(Secrets, secret, { ...by, signal }).catch(unlessThere);
  const annotations = { [managementAnnotation]: 'self' };
  const cluster: LatticeCluster = {
    apiVersion,
    kind,
    metadata: { name, annotations, finalizers: [latticeFinalizer] },
    spec,
  };
  await client.create(LatticeClusters, cluster, { ...by, signal }).catch(unlessThere);
  const metadata = { annotations: { [parentAnnotation]: await clusterId(client, signal) } };
  await child.patch(LatticeClusters, { name }, 'merge', { metadata }, { ...by, signal });
}
