import { type Policy, policiesOf } from '../core/caller.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { checkBody, checkName, conflict, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { createServers } from './server-create.ts';
import { beginDelete } from './server-delete.ts';
import { listServers } from './server-list.ts';
import { updateSchema } from './server-schema.ts';
import { addressesOf, portsOf, renderChangedServer, renderServer } from './server-view.ts';
import type { Server } from './tables.ts';

type Fields = Readonly<Record<string, unknown>>;

export function serverRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api:servers');
  const policies: Readonly<Record<Operation, Policy>> = {
    list: policy('index', 'reader'),
    create: policy('create', 'member'),
    show: policy('show', 'reader'),
    update: policy('update', 'member'),
    delete: policy('delete', 'member'),
  };
  return [
    ...resourceRoutes<Server>({
      path: '/v2.1/servers',
      name: 'server',
      policy: (operation) => policies[operation],
      find: (context) => compute.server(context),
      view: (server, context, operation) =>
        (operation === 'update' ? renderChangedServer : renderServer)(compute, context, server),
      list: (context) => listServers(compute, context, { withDetails: false }),
      update(context) {
        checkBody(updateSchema(context.minor), context.json);
        const fields = (context.json as { server: Fields }).server;
        checkName(fields['name']);
        const { id } = compute.server(context);
        const { name, description, accessIPv4, accessIPv6, hostname } = fields as Record<string, string | undefined>;
        const diskConfig = fields['OS-DCF:diskConfig'] as string | undefined;
        return compute.change(id, {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          ...(accessIPv4 !== undefined && { accessIPv4 }),
          ...(accessIPv6 !== undefined && { accessIPv6 }),
          ...(diskConfig !== undefined && { diskConfig }),
          ...(hostname !== undefined && { hostname }),
        });
      },
      delete(server, context) {
        if (server.isLocked && !context.caller.isAdmin) throw conflict(`Instance ${server.id} is locked`);
        beginDelete(compute, server);
        compute.record(server, 'delete', context);
      },
    }),
    {
      method: 'GET',
      path: '/v2.1/servers/detail',
      policy: policy('detail', 'reader'),
      handle: (context) => listServers(compute, context, { withDetails: true }),
    },
    {
      method: 'POST',
      path: '/v2.1/servers',
      policy: policies.create,
      handle: (context) => createServers(compute, context),
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
