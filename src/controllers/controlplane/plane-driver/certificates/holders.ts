import { clusterNameLabel, type Machine, Machines, Nodes } from '../../../../api/index.ts';
import { isNotConnected } from '../../../shared/index.ts';
import type { PlaneScope } from '../scope.ts';
import { workloadClient } from '../stages/in-cluster.ts';

/** Interval for listing Nodes if no current list is cached. */
const askAgainMs = 10 * 60_000;

/**
 * Counts kubelets that may still present a certificate of the previous CA, or request one because their bootstrap data
 * has its fingerprint. Machines created after all signers use the new CA do not count; all others might. Undefined if
 * unknown.
 */
export async function oldCertificateHolders(scope: PlaneScope, settledMs: number): Promise<number | undefined> {
  const nodes = await nodeNames(scope);
  if (!nodes) return undefined;
  const made = machinesOf(scope);
  const isFresh = ({ metadata }: Machine): boolean => Date.parse(metadata.creationTimestamp ?? '') > settledMs;
  const fresh = new Set(made.filter(isFresh).flatMap(({ status }) => status?.nodeRef?.name ?? []));
  const onTheirWay = made.filter((machine) => !isFresh(machine) && machine.status?.nodeRef === undefined);
  return nodes.filter((name) => !fresh.has(name)).length + onTheirWay.length;
}

async function nodeNames(scope: PlaneScope): Promise<readonly string[] | undefined> {
  const { request, dependencies, memory } = scope;
  const { clock, signal } = request.context;
  try {
    if (request.cluster) {
      const { name = '', namespace = '' } = request.cluster.metadata;
      const nodes = dependencies.workloads.nodes({ namespace, name }).list();
      return nodes.map(({ metadata }) => metadata.name ?? '');
    }
    const now = clock.now();
    if (memory.nodes && now - memory.nodes.at < askAgainMs) return memory.nodes.names;
    const { items } = await workloadClient(scope).list(Nodes, { signal });
    memory.nodes = { names: items.map(({ metadata }) => metadata.name ?? ''), at: now };
    return memory.nodes.names;
  } catch (error) {
    if (!isNotConnected(error)) throw error;
    return undefined;
  }
}

function machinesOf({ request: { cluster, context } }: PlaneScope): readonly Machine[] {
  if (!cluster) return [];
  const { name, namespace = '' } = cluster.metadata;
  return context.cache
    .lister(Machines)
    .list({ namespace, filter: ({ metadata }) => metadata.labels?.[clusterNameLabel] === name });
}
