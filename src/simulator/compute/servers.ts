import type { Route } from '../core/service.ts';
import { checkBody, checkName, conflict, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { createServers } from './server-create.ts';
import { beginDelete } from './server-delete.ts';
import { listServers } from './server-list.ts';
import { updateSchema } from './server-schema.ts';
import { addressesOf, portsOf, renderChangedServer, renderServer } from './server-view.ts';

type Fields = Readonly<Record<string, unknown>>;

export function serverRoutes(compute: Compute): Route[] {
  const policy = (name: string, level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: `os_compute_api:servers:${name}`,
    level,
  });
  return [
    {
      method: 'GET',
      path: '/v2.1/servers',
      policy: policy('index', 'reader'),
      handle: (context) => listServers(compute, context, { withDetails: false }),
    },
    {
      method: 'GET',
      path: '/v2.1/servers/detail',
      policy: policy('detail', 'reader'),
      handle: (context) => listServers(compute, context, { withDetails: true }),
    },
    {
      method: 'POST',
      path: '/v2.1/servers',
      policy: policy('create', 'member'),
      handle: (context) => createServers(compute, context),
    },
    {
      method: 'GET',
      path: '/v2.1/servers/{id}',
      policy: policy('show', 'reader'),
      handle: (context) => ({
        status: 200,
        body: { server: renderServer(compute, context, compute.server(context)) },
      }),
    },
    {
      method: 'PUT',
      path: '/v2.1/servers/{id}',
      policy: policy('update', 'member'),
      handle: (context) => {
        checkBody(updateSchema(context.minor), context.json);
        const fields = (context.json as { server: Fields }).server;
        checkName(fields['name']);
        const server = compute.server(context);
        const { name, description, accessIPv4, accessIPv6, hostname } = fields as Record<string, string | undefined>;
        const diskConfig = fields['OS-DCF:diskConfig'] as string | undefined;
        compute.change(server.id, {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          ...(accessIPv4 !== undefined && { accessIPv4 }),
          ...(accessIPv6 !== undefined && { accessIPv6 }),
          ...(diskConfig !== undefined && { diskConfig }),
          ...(hostname !== undefined && { hostname }),
        });
        return { status: 200, body: { server: renderChangedServer(compute, context, compute.server(context)) } };
      },
    },
    {
      method: 'DELETE',
      path: '/v2.1/servers/{id}',
      policy: policy('delete', 'member'),
      handle: (context) => {
        const server = compute.server(context);
        if (server.isLocked && !context.caller.isAdmin) throw conflict(`Instance ${server.id} is locked`);
        beginDelete(compute, server);
        compute.record(server, 'delete', context);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/v2.1/servers/{id}/ips',
      policy: { name: 'os_compute_api:ips:index', level: 'reader' },
      handle: (context) => {
        const full = addressesOf(portsOf(compute, compute.server(context)));
        const addresses = Object.fromEntries(
          Object.entries(full).map(([name, list]) => [name, list.map(({ version, addr }) => ({ version, addr }))]),
        );
        return { status: 200, body: { addresses } };
      },
    },
    {
      method: 'GET',
      path: '/v2.1/servers/{id}/ips/{network}',
      policy: { name: 'os_compute_api:ips:show', level: 'reader' },
      handle: (context) => {
        const network = context.param('network');
        const list = addressesOf(portsOf(compute, compute.server(context)))[network];
        if (!list) throw notFound('Instance is not a member of specified network');
        return { status: 200, body: { [network]: list.map(({ version, addr }) => ({ version, addr })) } };
      },
    },
    {
      method: 'GET',
      path: '/v2.1/servers/{id}/os-security-groups',
      policy: { name: 'os_compute_api:os-security-groups:list', level: 'reader' },
      handle: (context) => {
        const server = compute.server(context);
        const names = new Map<string, string>();
        for (const port of portsOf(compute, server)) {
          port.securityGroupIds.forEach((id, at) => void names.set(id, port.securityGroupNames[at] ?? ''));
        }
        const security_groups = [...names].map(([id, name]) => ({
          id,
          name,
          description: '',
          rules: [],
          tenant_id: server.projectId,
        }));
        return { status: 200, body: { security_groups } };
      },
    },
  ];
}
