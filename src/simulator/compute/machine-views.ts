import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, conflict, wrappedIn } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { portsOf } from './server-view.ts';
import type { Server } from './tables.ts';

/** Routes of diagnostics and consoles. */
export function machineViewRoutes(compute: Compute): Route[] {
  return [
    {
      method: 'GET',
      path: '/v2.1/servers/{id}/diagnostics',
      policy: { name: 'os_compute_api:os-server-diagnostics', level: 'admin' },
      handle: (context) => {
        const server = compute.server(context);
        if (server.host === '') throw conflict(`Instance ${server.id} is not ready`);
        return { status: 200, body: context.minor < 48 ? oldDiagnostics(server) : diagnostics(compute, server) };
      },
    },
    {
      method: 'POST',
      path: '/v2.1/servers/{id}/remote-consoles',
      since: 6,
      policy: { name: 'os_compute_api:os-remote-consoles', level: 'member' },
      handle: (context) => remoteConsole(compute, context),
    },
  ];
}

/** Before 2.48 the format of diagnostics depended on the hypervisor. */
function oldDiagnostics({ flavor }: Readonly<Server>): object {
  return {
    cpu0_time: 0,
    memory: flavor.ram * 1024,
    vda_errors: -1,
    vda_read: 0,
    vda_read_req: 0,
    vda_write: 0,
    vda_write_req: 0,
  };
}

const powerStates: Readonly<Record<number, string>> = { 0: 'pending', 1: 'running', 3: 'paused', 4: 'shutdown' };

function diagnostics(compute: Compute, server: Readonly<Server>): object {
  const { flavor } = server;
  const ports = portsOf(compute, server);
  const none = { read_bytes: 0, read_requests: 0, write_bytes: 0, write_requests: 0, errors_count: 0 };
  const wire = { octets: 0, errors: 0, drop: 0, packets: 0, rate: 0 };
  const directions = (['rx', 'tx'] as const).flatMap((way) =>
    Object.entries(wire).map(([name, value]) => [`${way}_${name}`, value]),
  );
  return {
    state: powerStates[server.powerState] ?? 'pending',
    driver: 'libvirt',
    hypervisor: 'simulated',
    hypervisor_os: 'simulated',
    uptime: server.launchedAt === undefined ? 0 : Math.floor((compute.core.now() - server.launchedAt) / 1000),
    config_drive: server.configDrive,
    num_cpus: flavor.vcpus,
    num_nics: ports.length,
    num_disks: 1 + server.volumes.filter(({ isRoot }) => !isRoot).length,
    cpu_details: Array.from({ length: flavor.vcpus }, (_, id) => ({ id, time: 0, utilisation: 0 })),
    nic_details: ports.map(({ macAddress }) => ({ mac_address: macAddress, ...Object.fromEntries(directions) })),
    disk_details: [none],
    memory_details: { maximum: flavor.ram, used: 0 },
  };
}

/** Console types by protocol. */
const screens: Readonly<Record<string, readonly string[]>> = {
  vnc: ['novnc'],
  spice: ['spice-html5'],
  serial: ['serial'],
  rdp: ['rdp-html5'],
  mks: ['webmks'],
};

const consoleSchema = wrappedIn('remote_console', {
  type: 'object',
  properties: {
    protocol: { type: 'string', enum: Object.keys(screens) },
    type: { type: 'string', enum: [...Object.values(screens).flat(), 'xvpvnc'] },
  },
  required: ['protocol', 'type'],
  additionalProperties: false,
});

function remoteConsole(compute: Compute, context: RequestContext): Answer {
  checkBody(consoleSchema, context.json);
  const { protocol, type } = (context.json as { remote_console: { protocol: string; type: string } }).remote_console;
  const server = compute.server(context);
  if (!screens[protocol]?.includes(type)) throw badRequest(`Unavailable console type ${type}.`);
  if (server.host === '') throw conflict(`Instance ${server.id} is not ready`);
  const url = `${context.origin}/console?token=${compute.core.ids.uuid()}`;
  return { status: 200, body: { remote_console: { protocol, type, url } } };
}
