import { type Machine, Machines, type Node } from '../../../api/index.ts';
import { comparableProviderId } from '../../shared/index.ts';
import { byCluster, clusterIndexValue } from '../common/indexes.ts';
import type { MachineScope } from './scope.ts';

/**
 * Finds a Node that probably belongs to the machine but does not have its provider ID: it has the machine's name, or no
 * provider ID and the machine's address. The Node may not have its provider ID yet, or may be left over from an earlier
 * server. Nodes of other machines never match.
 */
export function likelyNode(scope: MachineScope, nodes: readonly Node[]): Node | undefined {
  const { machine } = scope;
  const names = namesOf(machine);
  const addresses = new Set(machine.status?.addresses?.map(({ address }) => address));
  const isHere = ({ spec, status }: Node): boolean =>
    !spec?.providerID &&
    status?.addresses?.some(({ type, address }) => type === 'InternalIP' && addresses.has(address)) === true;
  const found = nodes.find(({ metadata }) => names.has(metadata.name ?? '')) ?? nodes.find(isHere);
  return found && !isOfAnother(scope, found) ? found : undefined;
}

/** Possible node names: the reported host names and the machine name. */
function namesOf(machine: Machine): Set<string> {
  const told = (machine.status?.addresses ?? []).filter(({ type }) => type === 'Hostname' || type === 'InternalDNS');
  return new Set([machine.metadata.name ?? '', ...told.map(({ address }) => address)]);
}

function isOfAnother({ context, machine }: MachineScope, node: Node): boolean {
  const all = context.cache
    .lister(Machines)
    .byIndex(byCluster, clusterIndexValue(machine.metadata.namespace, machine.spec.clusterName));
  const server = comparable(node.spec?.providerID);
  return all.some(
    ({ metadata, spec, status }) =>
      metadata.uid !== machine.metadata.uid &&
      (status?.nodeRef?.name === node.metadata.name ||
        (server !== undefined && comparable(spec.providerID) === server)),
  );
}

const comparable = (providerId: string | undefined): string | undefined =>
  providerId ? comparableProviderId(providerId) : undefined;
