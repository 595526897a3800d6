import { must } from '../../machinery/index.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { checkRead, isOperator } from './access.ts';
import { pick } from './listing.ts';
import { forbidden } from './refusals.ts';

/** Providers of load balancers. */
export const providers: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'amphora', description: 'The Octavia Amphora driver' },
  { name: 'octavia', description: 'Alias of the amphora driver' },
];

export function providerRoutes(base: string): Route[] {
  return [
    {
      method: 'GET',
      path: `${base}/providers`,
      handle({ caller }): Answer {
        checkRead(caller, caller.projectId);
        return { status: 200, body: { providers } };
      },
    },
    capabilities(base, 'flavor_capabilities'),
    capabilities(base, 'availability_zone_capabilities'),
  ];
}

/** Capabilities of the providers that profiles may use. */
const known: Readonly<Record<string, readonly { readonly name: string; readonly description: string }[]>> = {
  flavor_capabilities: [
    {
      name: 'loadbalancer_topology',
      description:
        'The load balancer topology. One of: SINGLE - One amphora per load balancer. ACTIVE_STANDBY - Two amphora per load balancer.',
    },
    { name: 'compute_flavor', description: 'The compute driver flavor ID.' },
    { name: 'amp_image_tag', description: 'The amphora image tag.' },
    { name: 'sriov_vip', description: 'When true, the VIP port will be created using an SR-IOV VF port.' },
  ],
  availability_zone_capabilities: [
    { name: 'compute_zone', description: 'The compute availability zone.' },
    { name: 'management_network', description: 'The management network ID for the amphora.' },
    { name: 'valid_vip_networks', description: 'List of network IDs that are allowed for VIP use.' },
  ],
};

function capabilities(base: string, kind: string): Route {
  return {
    method: 'GET',
    path: `${base}/providers/{name}/${kind}`,
    handle(context): Answer {
      if (!isOperator(context.caller)) throw forbidden();
      const name = context.param('name');
      if (!providers.some((provider) => provider.name === name)) {
        throw new Refusal(400, `Provider '${name}' is not enabled.`);
      }
      const wanted = context.query.get('name');
      const list = must(known[kind], 'known[kind]').filter((each) => wanted === undefined || each.name === wanted);
      return { status: 200, body: { [kind]: list.map((each) => pick({ ...each }, context)) } };
    },
  };
}
