import type {
  OpenStackServer,
  OpenStackServerSpec,
  PortOptions,
  ResolvedMachine,
  ResolvedPort,
} from '../../../api/index.ts';
import { portName } from '../common/names.ts';
import type { Finder } from './finder.ts';

/** Tells whether the resolved spec is complete, so that the server can be created. */
export function isResolved({ spec, status }: OpenStackServer): boolean {
  const { resolved } = status ?? {};
  return (
    resolved?.imageID !== undefined &&
    resolved.flavorID !== undefined &&
    resolved.ports?.length === spec.ports.length &&
    (spec.serverGroup === undefined || resolved.serverGroupID !== undefined)
  );
}

/** Resolves everything the spec names to ids, concurrently; the first failure fails the whole. */
export async function resolveSpec(
  server: OpenStackServer,
  finder: Finder,
  describe: (given: string | undefined) => string,
): Promise<ResolvedMachine> {
  const { spec } = server;
  const [flavorID, imageID, serverGroupID, ports] = await Promise.all([
    finder.flavor({ id: spec.flavorID, name: spec.flavor }),
    finder.image(spec.image),
    spec.serverGroup && finder.serverGroup(spec.serverGroup),
    Promise.all(
      spec.ports.map((port, index) =>
        resolvePort(port, spec, finder, {
          name: portName(server.metadata.name ?? '', index, port.nameSuffix),
          description: describe(port.description),
        }),
      ),
    ),
  ]);
  return { flavorID, imageID, ports, ...(serverGroupID !== undefined && { serverGroupID }) };
}

async function resolvePort(
  port: PortOptions,
  spec: OpenStackServerSpec,
  finder: Finder,
  named: { name: string; description: string },
): Promise<ResolvedPort> {
  const { network, fixedIPs, securityGroups, nameSuffix: _, tags, ...same } = port;
  // the machine controller sets a network on every port; a port without one cannot be created
  const networkID = await finder.network(network ?? {});
  const groupParams =
    port.enablePortSecurity === false ? [] : [...(securityGroups ?? []), ...(spec.securityGroups ?? [])];
  const [addresses, groups] = await Promise.all([
    Promise.all((fixedIPs ?? []).map((fixed) => resolveFixedIp(fixed, networkID, finder))),
    Promise.all(groupParams.map((param) => finder.securityGroups(param))),
  ]);
  const allTags = [...new Set([...(spec.tags ?? []), ...(tags ?? [])])].sort();
  const groupIds = [...new Set(groups.flat())];
  const trunk = port.trunk ?? spec.trunk;
  return {
    ...same,
    ...named,
    networkID,
    ...(trunk !== undefined && { trunk }),
    ...(allTags.length > 0 && { tags: allTags }),
    ...(addresses.length > 0 && { fixedIPs: addresses }),
    ...(groupIds.length > 0 && { securityGroups: groupIds }),
  };
}

async function resolveFixedIp(
  { subnet, ipAddress }: NonNullable<PortOptions['fixedIPs']>[number],
  networkId: string,
  finder: Finder,
): Promise<NonNullable<ResolvedPort['fixedIPs']>[number]> {
  return {
    ...(subnet && { subnet: await finder.subnet(subnet, networkId) }),
    ...(ipAddress !== undefined && { ipAddress }),
  };
}
