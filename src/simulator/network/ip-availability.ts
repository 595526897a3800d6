import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { knownIp } from './addressing/ip.ts';
import { fieldsOf, pickFields } from './attributes/list-query.ts';
import type { Neutron } from './neutron.ts';
import { networkNotFound } from './refusals.ts';
import type { NetworkRow, SubnetRow } from './rows.ts';

/** Routes of the total and used addresses of networks, for operators. */
export function ipAvailabilityRoutes(neutron: Neutron): Route[] {
  const path = '/v2.0/network-ip-availabilities';
  return [
    {
      method: 'GET',
      path,
      handle(context): Answer {
        if (!context.caller.isAdmin) return { status: 200, body: { network_ip_availabilities: [] } };
        const wanted = filterOf(context);
        const found = [...neutron.networks.all()].map((network) => availability(neutron, network)).filter(wanted);
        const items = found.map((each) => pickFields(each, fieldsOf(context)));
        return { status: 200, body: { network_ip_availabilities: items } };
      },
    },
    {
      method: 'GET',
      path: `${path}/{id}`,
      handle(context): Answer {
        const id = context.param('id');
        const network = context.caller.isAdmin ? neutron.networks.get(id) : undefined;
        if (!network) throw networkNotFound(id);
        return { status: 200, body: { network_ip_availability: availability(neutron, network) } };
      },
    },
  ];
}

function filterOf({ query }: RequestContext): (row: Record<string, unknown>) => boolean {
  const versions = query.all('ip_version');
  const plain = ['network_id', 'network_name', 'tenant_id', 'project_id'] as const;
  return (row) =>
    plain.every((name) => {
      const wanted = query.all(name);
      return wanted.length === 0 || wanted.includes(row[name] as string);
    }) &&
    (versions.length === 0 ||
      (row['subnet_ip_availability'] as { ip_version: number }[]).some(({ ip_version }) =>
        versions.includes(String(ip_version)),
      ));
}

function availability(neutron: Neutron, network: Readonly<NetworkRow>): Record<string, unknown> {
  const subnets = Array.from(neutron.subnets.by('network', network.id), (subnet) => ({
    subnet_id: subnet.id,
    subnet_name: subnet.name,
    ip_version: subnet.ip_version,
    cidr: subnet.cidr,
    total_ips: sizeOf(subnet),
    used_ips: usedOf(neutron, subnet),
  }));
  return {
    network_id: network.id,
    network_name: network.name,
    tenant_id: network.tenant_id,
    total_ips: subnets.reduce((sum, { total_ips }) => sum + total_ips, 0),
    used_ips: subnets.reduce((sum, { used_ips }) => sum + used_ips, 0),
    subnet_ip_availability: subnets,
    project_id: network.tenant_id,
  };
}

/** Returns the number of addresses in the pools. For IPv6 it exceeds the exact range of numbers. */
function sizeOf({ allocation_pools }: Readonly<SubnetRow>): number {
  let size = 0n;
  for (const { start, end } of allocation_pools) size += knownIp(end).value - knownIp(start).value + 1n;
  return Number(size);
}

function usedOf({ ports }: Neutron, { id }: Readonly<SubnetRow>): number {
  let used = 0;
  for (const { fixed_ips } of ports.by('subnet', id)) {
    for (const { subnet_id } of fixed_ips) if (subnet_id === id) used++;
  }
  return used;
}
