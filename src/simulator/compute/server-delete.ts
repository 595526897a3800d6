import { outcomeOf } from '../core/faults/outcome.ts';
import type { Compute } from './compute.ts';
import { wipeDisk } from './disks.ts';
import { forgetMachine, switchOff } from './machines.ts';
import type { Server } from './tables.ts';

const job = 'compute.delete';
/** number of deleted servers remembered for `changes-since` */
const remembered = 1000;

export function defineDelete(compute: Compute): void {
  const { jobs, timings, faults } = compute.core;
  timings.declare({ 'server.delete': [300, 600] });
  jobs.define<{ isSpared?: boolean } | undefined>(job, (id, data) => {
    const server = compute.servers.get(id);
    if (!server) return;
    const effect = data?.isSpared ? undefined : outcomeOf(compute.core, 'server.delete', server);
    switch (effect?.kind) {
      case 'stuck':
        return;
      case 'slow':
        jobs.schedule(faults.duration(effect.ms), job, id, { isSpared: true });
        return;
      case 'error': {
        const message = effect.message ?? 'Failed to terminate process with SIGKILL: Device or resource busy';
        const fault = { code: 500, createdAt: compute.core.now(), message, details: '' };
        compute.change(id, { vmState: 'error', taskState: null, fault });
        compute.finishAction(id, 'Error');
        return;
      }
      default:
        removeServer(compute, server);
    }
  });
}

/** Starts the deletion of a server. Repeated calls have no effect. */
export function beginDelete(compute: Compute, server: Readonly<Server>): void {
  if (server.taskState === 'deleting') return;
  if (server.powerState === 1) switchOff(compute, server.id, 'delete');
  compute.change(server.id, { taskState: 'deleting' });
  compute.core.jobs.schedule(compute.core.timings.sample('server.delete'), job, server.id);
}

/** Releases everything the server holds, then removes the server. */
export function removeServer(compute: Compute, server: Readonly<Server>): void {
  const { network, volume: volumes } = compute.core.services;
  for (const { id, isOurs } of server.ports) {
    const port = network.port(id);
    if (port?.deviceId !== server.id) continue;
    if (isOurs) network.deletePort(id);
    else network.unbindPort(id);
  }
  for (const { volumeId, deleteOnTermination } of server.volumes) {
    if (!volumes.volume(volumeId)) continue;
    volumes.detach(volumeId, server.id);
    if (deleteOnTermination) volumes.deleteVolume(volumeId);
  }
  compute.finishAction(server.id, null);
  compute.consoles.delete(server.id);
  wipeDisk(compute, server.id);
  if (server.shelvedImageId) compute.core.services.image.deleteImage(server.shelvedImageId);
  compute.servers.delete(server.id);
  remember(compute, server);
  forgetMachine(compute, server.id);
}

function remember(compute: Compute, server: Readonly<Server>): void {
  const now = compute.core.now();
  for (const { id } of compute.deletedServers.all()) {
    if (compute.deletedServers.size < remembered) break;
    for (const action of [...compute.actions.by('server', id)]) compute.actions.delete(action.id);
    compute.deletedServers.delete(id);
  }
  compute.deletedServers.insert({
    ...server,
    vmState: 'deleted',
    taskState: null,
    powerState: 0,
    terminatedAt: now,
    updatedAt: now,
    userData: '',
    metadata: {},
    ports: [],
    volumes: [],
    networkRequests: [],
    deviceRequests: [],
  });
}
