import type { Answer, Route } from '../core/service.ts';
import { zulu } from '../core/time-formats.ts';
import type { Neutron } from './neutron.ts';
import { refuse } from './refusals.ts';
import { routerHost } from './resources/router-gateway.ts';

const kinds = [
  { agent_type: 'L3 agent', binary: 'neutron-l3-agent', topic: 'l3_agent' },
  { agent_type: 'DHCP agent', binary: 'neutron-dhcp-agent', topic: 'dhcp_agent' },
] as const;

/** Routes of agents, which only operators see. */
export function agentRoutes({ core }: Neutron): Route[] {
  const started = core.now();
  // Fixed ids, because random ones would change all ids generated later.
  const agents = kinds.map((kind, index) => ({
    id: `00000000-0000-4000-8000-00000000000${index + 1}`,
    ...kind,
    host: routerHost,
    admin_state_up: true,
    availability_zone: 'nova',
    configurations: {},
    description: null,
    resources_synced: null,
  }));
  const view = (agent: (typeof agents)[number]): object => ({
    ...agent,
    alive: true,
    created_at: zulu(started).replace('T', ' ').slice(0, 19),
    started_at: zulu(started).replace('T', ' ').slice(0, 19),
    heartbeat_timestamp: zulu(core.now()).replace('T', ' ').slice(0, 19),
  });
  return [
    {
      method: 'GET',
      path: '/v2.0/agents',
      handle: ({ caller }): Answer => ({ status: 200, body: { agents: caller.isAdmin ? agents.map(view) : [] } }),
    },
    {
      method: 'GET',
      path: '/v2.0/agents/{id}',
      handle(context): Answer {
        const id = context.param('id');
        const agent = context.caller.isAdmin ? agents.find((each) => each.id === id) : undefined;
        if (!agent) throw refuse(404, 'AgentNotFound', `Agent ${id} could not be found.`);
        return { status: 200, body: { agent: view(agent) } };
      },
    },
  ];
}
