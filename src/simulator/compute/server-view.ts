import { must } from '../../machinery/index.ts';
import type { PortView } from '../core/contracts.ts';
import type { RequestContext } from '../core/http/context.ts';
import { wholeSeconds, zulu } from '../core/time-formats.ts';
import type { Compute } from './compute.ts';
import { serverStatus } from './server-status.ts';
import type { Server } from './tables.ts';

export interface Link {
  readonly rel: string;
  readonly href: string;
}

export function serverLinks(context: RequestContext, id: string): Link[] {
  return [
    { rel: 'self', href: `${context.serviceUrl}/v2.1/servers/${id}` },
    { rel: 'bookmark', href: `${context.serviceUrl}/servers/${id}` },
  ];
}

/** Renders a server for a list without details. */
export function renderServerBrief(context: RequestContext, { id, name }: Readonly<Server>): object {
  return { id, name, links: serverLinks(context, id) };
}

const showsProgress: ReadonlySet<string> = new Set([
  'ACTIVE',
  'BUILD',
  'REBUILD',
  'RESIZE',
  'VERIFY_RESIZE',
  'MIGRATING',
]);

/** Renders a server with all fields of the microversion. */
export function renderServer(
  compute: Compute,
  context: RequestContext,
  server: Readonly<Server>,
): Record<string, unknown> {
  const { minor } = context;
  const status = serverStatus(server);
  const ports = portsOf(compute, server);
  // Assigned one by one for speed: lists render thousands of servers, and an object literal with spreads is several
  // times slower.
  const shown: Record<string, unknown> = {
    id: server.id,
    name: server.name,
    status,
    tenant_id: server.projectId,
    user_id: server.userId,
    metadata: server.metadata,
    hostId: server.hostId,
    image: renderImage(context, server),
    flavor: renderFlavor(context, server),
    created: zulu(server.createdAt),
    updated: zulu(server.updatedAt),
    addresses: addressesOf(ports),
    accessIPv4: server.accessIPv4,
    accessIPv6: server.accessIPv6,
    links: serverLinks(context, server.id),
    'OS-DCF:diskConfig': server.diskConfig,
    'OS-EXT-AZ:availability_zone': server.zone || server.wantedZone,
    config_drive: server.configDrive ? 'True' : '',
    key_name: server.keyName,
    'OS-SRV-USG:launched_at': server.launchedAt === undefined ? null : wholeSeconds(server.launchedAt),
    'OS-SRV-USG:terminated_at': server.terminatedAt === undefined ? null : wholeSeconds(server.terminatedAt),
    'OS-EXT-STS:task_state': server.taskState,
    'OS-EXT-STS:vm_state': server.vmState,
    'OS-EXT-STS:power_state': server.powerState,
    'os-extended-volumes:volumes_attached': server.volumes.map(({ volumeId, deleteOnTermination }) =>
      minor < 3 ? { id: volumeId } : { id: volumeId, delete_on_termination: deleteOnTermination },
    ),
  };
  if (showsProgress.has(status)) shown['progress'] = 0;
  if (server.fault && (status === 'ERROR' || status === 'DELETED')) {
    shown['fault'] = renderFault(server.fault, context.caller.isAdmin);
  }
  const groups = securityGroupsOf(ports);
  if (groups.length > 0) shown['security_groups'] = groups;
  if (minor >= 9) shown['locked'] = server.isLocked;
  if (minor >= 19) shown['description'] = server.description;
  if (minor >= 26) shown['tags'] = server.tags;
  if (minor >= 63) shown['trusted_image_certificates'] = null;
  if (minor >= 71) shown['server_groups'] = server.groupId === '' ? [] : [server.groupId];
  if (minor >= 73) shown['locked_reason'] = server.lockedReason;
  if (minor >= 90) shown['OS-EXT-SRV-ATTR:hostname'] = server.hostname;
  if (context.caller.isAdmin) Object.assign(shown, adminAttributes(server, minor));
  return shown;
}

/** Fields of nova's former extensions. Below 2.75 the answer to an update lacks them. */
const extended: readonly string[] = [
  'OS-EXT-AZ:availability_zone',
  'OS-EXT-STS:power_state',
  'OS-EXT-STS:task_state',
  'OS-EXT-STS:vm_state',
  'OS-SRV-USG:launched_at',
  'OS-SRV-USG:terminated_at',
  'config_drive',
  'key_name',
  'os-extended-volumes:volumes_attached',
  'security_groups',
];

/** Renders a server for the answer to an update. */
export function renderChangedServer(compute: Compute, context: RequestContext, server: Readonly<Server>): object {
  const full = renderServer(compute, context, server);
  if (context.minor >= 75) return full;
  const plain = Object.fromEntries(Object.entries(full).filter(([key]) => !extended.includes(key)));
  const addresses = Object.entries(addressesOf(portsOf(compute, server))).map(([network, list]) => [
    network,
    list.map(({ version, addr }) => ({ version, addr })),
  ]);
  return { ...plain, addresses: Object.fromEntries(addresses) };
}

function renderFault(fault: NonNullable<Server['fault']>, isAdmin: boolean): object {
  const { code, createdAt, message, details } = fault;
  return { code, created: zulu(createdAt), message, ...(isAdmin && { details }) };
}

function adminAttributes(server: Readonly<Server>, minor: number): object {
  const number = Number.parseInt(server.id.slice(0, 6), 16).toString(16).padStart(8, '0');
  return {
    'OS-EXT-SRV-ATTR:host': server.host || null,
    'OS-EXT-SRV-ATTR:hypervisor_hostname': server.host || null,
    'OS-EXT-SRV-ATTR:instance_name': `instance-${number}`,
    ...(minor >= 3 && {
      'OS-EXT-SRV-ATTR:reservation_id': server.reservationId,
      'OS-EXT-SRV-ATTR:launch_index': server.launchIndex,
      'OS-EXT-SRV-ATTR:hostname': server.hostname,
      'OS-EXT-SRV-ATTR:kernel_id': '',
      'OS-EXT-SRV-ATTR:ramdisk_id': '',
      'OS-EXT-SRV-ATTR:root_device_name': '/dev/sda',
      'OS-EXT-SRV-ATTR:user_data': server.userData || null,
    }),
    ...(minor >= 16 && { host_status: server.host === '' ? '' : 'UP' }),
  };
}

function renderImage(context: RequestContext, { imageId }: Readonly<Server>): unknown {
  if (imageId === '') return '';
  return { id: imageId, links: [{ rel: 'bookmark', href: `${context.serviceUrl}/images/${imageId}` }] };
}

function renderFlavor(context: RequestContext, { flavor }: Readonly<Server>): object {
  if (context.minor < 47) {
    return { id: flavor.id, links: [{ rel: 'bookmark', href: `${context.serviceUrl}/flavors/${flavor.id}` }] };
  }
  return {
    vcpus: flavor.vcpus,
    ram: flavor.ram,
    disk: flavor.disk,
    ephemeral: flavor.ephemeral,
    swap: flavor.swap,
    original_name: flavor.name,
    extra_specs: flavor.extraSpecs,
  };
}

/** Returns the ports of a server, without ports deleted in neutron. */
export function portsOf(compute: Compute, server: Readonly<Server>): PortView[] {
  const ports: PortView[] = [];
  for (const { id } of server.ports) {
    const port = compute.core.services.network.port(id);
    if (port) ports.push(port);
  }
  return ports;
}

interface Address {
  readonly version: 4 | 6;
  readonly addr: string;
  readonly 'OS-EXT-IPS:type': 'fixed' | 'floating';
  readonly 'OS-EXT-IPS-MAC:mac_addr': string;
}

/** Groups addresses by network name. Each fixed address is followed by its floating IPs. */
export function addressesOf(ports: readonly PortView[]): Record<string, Address[]> {
  const addresses: Record<string, Address[]> = {};
  for (const port of ports) {
    addresses[port.networkName] ??= [];
    const list = must(addresses[port.networkName], 'addresses[port.networkName]');
    const add = (addr: string, type: 'fixed' | 'floating'): void => {
      const version = addr.includes(':') ? 6 : 4;
      list.push({ version, addr, 'OS-EXT-IPS:type': type, 'OS-EXT-IPS-MAC:mac_addr': port.macAddress });
    };
    for (const { address } of port.fixedIps) {
      add(address, 'fixed');
      for (const floating of port.floatingIps) if (floating.fixedAddress === address) add(floating.address, 'floating');
    }
  }
  return addresses;
}

/** Lists each group once, in the order of the ports. */
function securityGroupsOf(ports: readonly PortView[]): { name: string }[] {
  const groups: { name: string }[] = [];
  for (const { securityGroupNames } of ports) {
    for (const name of securityGroupNames) if (!groups.some((group) => group.name === name)) groups.push({ name });
  }
  return groups;
}
