import { must } from '../../machinery/index.ts';
import { policiesOf } from '../core/caller.ts';
import type { PortView } from '../core/contracts.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import { resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { badRequest, checkBody, conflict, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { interfacesChanged } from './machines.ts';
import { portSpec } from './server-build.ts';
import { tagSchema } from './server-schema.ts';
import { portsOf } from './server-view.ts';
import type { Server } from './tables.ts';
import { mustBeIn } from './transitions.ts';

const job = 'compute.detachInterface';

export function defineInterfaces(compute: Compute): void {
  const { jobs, timings } = compute.core;
  timings.declare({ 'server.detachInterface': [300, 600] });
  jobs.define<{ portId: string }>(job, (serverId, { portId }) => {
    const server = compute.servers.get(serverId);
    const mine = server?.ports.find(({ id }) => id === portId);
    if (!server || !mine) return;
    const { network } = compute.core.services;
    compute.change(serverId, { ports: server.ports.filter(({ id }) => id !== portId) });
    if (mine.isOurs) network.deletePort(portId);
    else if (network.port(portId)) network.unbindPort(portId);
    compute.finishAction(serverId, null);
    interfacesChanged(compute, serverId);
  });
}

interface Interface {
  readonly server: Readonly<Server>;
  readonly port: PortView;
}

/** Routes of the network interfaces of a server. */
export function interfaceRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api:os-attach-interfaces');
  const base = '/v2.1/servers/{id}/os-interface';
  return [
    ...resourceRoutes<Interface>({
      path: base,
      name: 'interfaceAttachment',
      parameter: 'port',
      statuses: { create: 200 },
      policy: (operation) => policy(operation, operation === 'create' ? 'member' : 'reader'),
      find(context) {
        const server = compute.server(context);
        const port = portsOf(compute, server).find(({ id }) => id === context.param('port'));
        if (!port) throw notFound(`Port id ${context.param('port')} could not be found.`);
        return { server, port };
      },
      view: render,
      list(context) {
        const server = compute.server(context);
        const interfaceAttachments = portsOf(compute, server).map((port) => render({ server, port }, context));
        return { status: 200, body: { interfaceAttachments } };
      },
      create: (context) => attach(compute, context),
    }),
    {
      method: 'DELETE',
      path: `${base}/{port}`,
      policy: policy('delete', 'member'),
      handle: (context) => {
        const server = compute.server(context);
        const portId = context.param('port');
        mustBeIn(server, 'detach_interface', ['active', 'paused', 'stopped']);
        compute.record(server, 'detach_interface', context);
        const { jobs, timings } = compute.core;
        // Nova accepts any port and checks later whether the server has it.
        if (server.ports.some(({ id }) => id === portId)) {
          jobs.schedule(timings.sample('server.detachInterface'), job, server.id, { portId });
        } else {
          compute.finishAction(server.id, 'Error');
        }
        return { status: 202 };
      },
    },
  ];
}

function attach(compute: Compute, context: RequestContext): Interface {
  const { minor } = context;
  const uuid = { type: 'string', format: 'uuid' };
  checkBody(
    {
      type: 'object',
      properties: {
        interfaceAttachment: {
          type: 'object',
          properties: {
            net_id: uuid,
            port_id: uuid,
            fixed_ips: {
              type: 'array',
              items: {
                type: 'object',
                properties: { ip_address: { type: 'string', format: 'ip-address' } },
                required: ['ip_address'],
                additionalProperties: false,
              },
              minItems: 1,
              maxItems: 1,
            },
            ...(minor >= 49 && { tag: tagSchema }),
          },
          additionalProperties: false,
        },
      },
    },
    context.json ?? {},
  );
  const desired = ((context.json ?? {}) as { interfaceAttachment?: AttachSpec }).interfaceAttachment ?? {};
  const server = compute.server(context);
  mustBeIn(server, 'attach_interface', ['active', 'paused', 'stopped']);
  if (desired.net_id !== undefined && desired.port_id !== undefined) {
    throw badRequest('Must not input both network_id and port_id');
  }
  if (desired.fixed_ips && desired.net_id === undefined)
    throw badRequest('Must input network_id when request IP address');
  const port =
    desired.port_id === undefined
      ? newPort(compute, context, server, desired)
      : givenPort(compute, context, server, desired.port_id);
  const { network } = compute.core.services;
  compute.change(server.id, {
    ports: [...server.ports, { id: port.id, isOurs: desired.port_id === undefined, tag: desired.tag ?? null }],
  });
  if (server.powerState === 1) network.activatePort(port.id);
  compute.record(server, 'attach_interface', context);
  compute.finishAction(server.id, null);
  interfacesChanged(compute, server.id);
  return { server, port: must(network.port(port.id), 'port') };
}

interface AttachSpec {
  readonly net_id?: string;
  readonly port_id?: string;
  readonly fixed_ips?: readonly { readonly ip_address: string }[];
  readonly tag?: string;
}

function givenPort(compute: Compute, context: RequestContext, server: Readonly<Server>, id: string): PortView {
  const { network } = compute.core.services;
  const port = network.port(id);
  if (!port || (port.projectId !== context.project && !context.caller.isAdmin)) {
    throw notFound(`Port id ${id} could not be found.`);
  }
  if (port.deviceId !== '') throw conflict(`Port ${id} is still in use.`);
  network.bindPort(id, {
    deviceId: server.id,
    deviceOwner: `compute:${server.zone}`,
    host: server.host,
    dnsName: server.hostname,
  });
  return port;
}

function newPort(compute: Compute, context: RequestContext, server: Readonly<Server>, desired: AttachSpec): PortView {
  const { network } = compute.core.services;
  let networkId = desired.net_id;
  if (networkId === undefined) {
    const choices = network.networksFor(context.project);
    if (choices.length > 1) {
      throw conflict('Multiple possible networks found, use a Network ID to be more specific.');
    }
    networkId = choices[0]?.id;
    if (networkId === undefined) throw conflict('No available networks.');
  }
  const found = network.network(networkId);
  if (!found || !network.canUse(found, context.caller)) throw notFound(`Network ${networkId} could not be found.`);
  if (found.isExternal && !found.isShared && !context.caller.isAdmin) {
    throw forbidden(`It is not allowed to create an interface on external network ${networkId}`);
  }
  try {
    return network.createPort(portSpec(compute, server, networkId, desired.fixed_ips?.[0]?.ip_address ?? ''));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.type === 'OverQuota') throw forbidden('Quota exceeded, too many ports');
    throw badRequest(error.message);
  }
}

function render({ server, port }: Interface, { minor }: RequestContext): object {
  return {
    net_id: port.networkId,
    port_id: port.id,
    mac_addr: port.macAddress,
    port_state: port.status,
    fixed_ips: port.fixedIps.map(({ subnetId, address }) => ({ subnet_id: subnetId, ip_address: address })),
    ...(minor >= 70 && { tag: server.ports.find(({ id }) => id === port.id)?.tag ?? null }),
  };
}
