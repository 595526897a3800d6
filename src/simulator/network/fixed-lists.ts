import type { Answer, Route } from '../core/service.ts';
import type { Neutron } from './neutron.ts';

/** Collections that clients read but that are always empty here. */
const empty: Readonly<Record<string, string>> = {
  flavors: 'flavors',
};

/** Routes of read-only lists. */
export function fixedLists(neutron: Neutron): Route[] {
  const list = (path: string, key: string, items: (context: Parameters<Route['handle']>[0]) => unknown[]): Route => ({
    method: 'GET',
    path: `/v2.0/${path}`,
    handle: (context): Answer => ({ status: 200, body: { [key]: items(context) } }),
  });
  return [
    ...Object.entries(empty).map(([path, key]) => list(path, key, () => [])),
    list('service-providers', 'service_providers', ({ query }) =>
      [{ service_type: 'L3_ROUTER_NAT', name: 'single_node', default: false }].filter((provider) =>
        query.entries.every(
          ([name, value]) => !(name in provider) || String(provider[name as keyof typeof provider]) === value,
        ),
      ),
    ),
    list('floatingip_pools', 'floatingip_pools', ({ project }) =>
      [...neutron.networks.by('open', 'yes')]
        .filter((network) => network['router:external'])
        .flatMap((network) => [...neutron.subnets.by('network', network.id)])
        .filter(({ ip_version }) => ip_version === 4)
        .map((subnet) => ({
          subnet_id: subnet.id,
          subnet_name: subnet.name,
          tenant_id: project,
          network_id: subnet.network_id,
          cidr: subnet.cidr,
          project_id: project,
        })),
    ),
    list('availability_zones', 'availability_zones', () => []),
  ];
}
