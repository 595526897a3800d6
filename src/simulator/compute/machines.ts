import type { Console, Machine, PortView } from '../core/contracts.ts';
import type { Compute } from './compute.ts';
import { appendConsole } from './console.ts';
import { wipeDisk } from './disks.ts';
import type { Server } from './tables.ts';

/** Describes the server to the machine host. */
export function machineOf(compute: Compute, server: Readonly<Server>): Machine {
  const { network, image: images, volume: volumes } = compute.core.services;
  const rootVolume = server.volumes.find(({ isRoot }) => isRoot);
  const image =
    server.imageId !== '' ? images.image(server.imageId) : rootVolume && volumes.volume(rootVolume.volumeId)?.image;
  const interfaces: PortView[] = [];
  for (const { id } of server.ports) {
    const port = network.port(id);
    if (port) interfaces.push(port);
  }
  const { id, name, hostname, projectId, userId, zone, host, metadata, tags, configDrive, flavor } = server;
  return {
    id,
    name,
    hostname,
    projectId,
    userId,
    availabilityZone: zone,
    host,
    metadata,
    tags,
    userData: server.userData === '' ? undefined : Buffer.from(server.userData, 'base64'),
    configDrive,
    keyPair: server.keyName === null ? undefined : { name: server.keyName, publicKey: server.publicKey },
    flavor: { name: flavor.name, vcpus: flavor.vcpus, ramMiB: flavor.ram, diskGiB: flavor.disk },
    image,
    interfaces,
  };
}

function consoleOf(compute: Compute, serverId: string): Console {
  return {
    write: (text) => compute.core.state.transact(() => appendConsole(compute, serverId, text)),
  };
}

/** Tells the machine host to start the machine once the transaction is persisted. */
export function switchOn(compute: Compute, serverId: string): void {
  const { machineHost, state } = compute.core;
  if (!machineHost) return;
  state.afterCommit(() => {
    const server = compute.servers.get(serverId);
    if (server) machineHost.powerOn(machineOf(compute, server), consoleOf(compute, serverId));
  });
}

export function switchOff(
  compute: Compute,
  serverId: string,
  reason: 'stop' | 'reboot' | 'delete' | 'error' | 'suspend',
): void {
  const { machineHost, state } = compute.core;
  if (machineHost) state.afterCommit(() => machineHost.powerOff(serverId, reason));
}

/** Empties the disk of the server for its next start. */
export function replaceDisk(compute: Compute, serverId: string): void {
  const { machineHost, state } = compute.core;
  wipeDisk(compute, serverId);
  if (machineHost?.diskReplaced) state.afterCommit(() => machineHost.diskReplaced?.(serverId));
}

export function forgetMachine(compute: Compute, serverId: string): void {
  const { machineHost, state } = compute.core;
  if (machineHost) state.afterCommit(() => machineHost.removed(serverId));
}

export function interfacesChanged(compute: Compute, serverId: string): void {
  const { machineHost, state } = compute.core;
  if (!machineHost?.interfacesChanged) return;
  state.afterCommit(() => {
    const server = compute.servers.get(serverId);
    if (server?.powerState === 1) machineHost.interfacesChanged?.(machineOf(compute, server));
  });
}
