import type { NewPort } from '../core/contracts.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import { Refusal } from '../core/refusal.ts';
import { nextDevice } from './block-devices.ts';
import type { Compute } from './compute.ts';
import { bootLines } from './console.ts';
import { switchOn } from './machines.ts';
import { chooseHost, type HostHints } from './scheduler.ts';
import type { Server, ServerPort, ServerVolume } from './tables.ts';

const step = {
  schedule: 'compute.schedule',
  network: 'compute.network',
  devices: 'compute.devices',
  awaitVolumes: 'compute.awaitVolumes',
  spawn: 'compute.spawn',
} as const;

const noValidHost = 'No valid host was found. There are not enough hosts available.';
/** number of polls for volumes before the build fails, as in nova's block_device_allocate_retries */
const volumeTries = 60;

/** Data of a build step. */
interface StepData {
  readonly hints?: HostHints;
  readonly tries?: number;
  /** a fault has already struck this build, so the next check is skipped */
  readonly isSpared?: boolean;
}

/** Defines the steps of a server build: schedule, network, disks, start. Each step may take time or fail. */
export function defineBuild(compute: Compute): void {
  const { jobs, timings } = compute.core;
  timings.declare({
    'server.schedule': [200, 500],
    'server.network': [200, 400],
    'server.devices': [100, 300],
    'server.volumePoll': 1000,
    'server.spawn': [400, 800],
  });
  const define = (kind: string, run: (compute: Compute, server: Readonly<Server>, data: StepData) => void): void =>
    jobs.define<StepData | undefined>(kind, (id, data) => {
      const server = compute.servers.get(id);
      // Skips servers that were deleted meanwhile or whose build already failed.
      if (server?.vmState === 'building' && server.taskState !== 'deleting') run(compute, server, data ?? {});
    });
  define(step.schedule, schedule);
  define(step.network, plug);
  define(step.devices, makeVolumes);
  define(step.awaitVolumes, awaitVolumes);
  define(step.spawn, start);
}

/** Starts the build of a new server. */
export function beginBuild(compute: Compute, server: Readonly<Server>, hints: HostHints): void {
  later(compute, 'server.schedule', step.schedule, server.id, { hints });
}

function later(compute: Compute, timing: string, kind: string, id: string, data?: StepData): void {
  compute.core.jobs.schedule(compute.core.timings.sample(timing), kind, id, data);
}

/** Reports whether a fault rule applies to this step. If so, the caller skips the rest of the step. */
function strikes(
  compute: Compute,
  server: Readonly<Server>,
  { operation, kind, data }: { operation: string; kind: string; data: StepData },
): boolean {
  if (data.isSpared) return false;
  const { faults, jobs } = compute.core;
  const effect = outcomeOf(compute.core, operation, server);
  if (!effect || effect.kind === 'over-quota') return false;
  if (effect.kind === 'slow') jobs.schedule(faults.duration(effect.ms), kind, server.id, { ...data, isSpared: true });
  if (effect.kind === 'error') {
    failBuild(compute, server, effect.message ?? (kind === step.schedule ? noValidHost : unexpected(server)));
  }
  return true;
}

function unexpected({ id }: Readonly<Server>): string {
  return `Build of instance ${id} aborted: internal error: process exited while connecting to monitor`;
}

function schedule(compute: Compute, server: Readonly<Server>, data: StepData): void {
  if (strikes(compute, server, { operation: 'server.schedule', kind: step.schedule, data })) return;
  const host = chooseHost(compute, server, data.hints ?? { different: [], same: [] });
  if (!host) {
    failBuild(compute, server, noValidHost);
    return;
  }
  compute.change(server.id, {
    host: host.id,
    hostId: compute.hostIdOf(server.projectId, host.id),
    zone: host.zone,
    taskState: 'networking',
  });
  later(compute, 'server.network', step.network, server.id);
}

/** Creates the requested ports and binds the given ones. */
function plug(compute: Compute, server: Readonly<Server>): void {
  const { network } = compute.core.services;
  const owner = `compute:${server.zone}`;
  const ports: ServerPort[] = [];
  try {
    compute.core.state.transact(() => {
      for (const desired of server.networkRequests) {
        if (desired.portId === '') {
          const port = network.createPort(portSpec(compute, server, desired.networkId, desired.fixedIp));
          ports.push({ id: port.id, isOurs: true, tag: desired.tag });
          continue;
        }
        const given = network.port(desired.portId);
        if (!given) throw new Refusal(404, `Port ${desired.portId} could not be found.`);
        if (given.deviceId !== '') throw new Refusal(409, `Port ${desired.portId} is still in use.`);
        network.bindPort(desired.portId, {
          deviceId: server.id,
          deviceOwner: owner,
          host: server.host,
          dnsName: server.hostname,
        });
        ports.push({ id: desired.portId, isOurs: false, tag: desired.tag });
      }
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    failBuild(compute, server, `Build of instance ${server.id} aborted: ${error.message}`);
    return;
  }
  const needsVolumes = server.deviceRequests.some(({ destination }) => destination === 'volume');
  const taskState = needsVolumes ? 'block_device_mapping' : 'spawning';
  compute.change(server.id, { ports, networkRequests: [], taskState });
  if (needsVolumes) later(compute, 'server.devices', step.devices, server.id);
  else later(compute, 'server.spawn', step.spawn, server.id);
}

/** Returns the port that nova requests from neutron for a server with only a network. */
export function portSpec(compute: Compute, server: Readonly<Server>, networkId: string, fixedIp: string): NewPort {
  const { network } = compute.core.services;
  const securityGroupIds = server.securityGroups.flatMap((name) => {
    const group = network.securityGroup(server.projectId, name);
    return typeof group === 'object' ? [group.id] : [];
  });
  return {
    projectId: server.projectId,
    networkId,
    deviceId: server.id,
    deviceOwner: `compute:${server.zone}`,
    bindingHost: server.host,
    dnsName: server.hostname,
    ...(fixedIp !== '' && { fixedIps: [{ address: fixedIp }] }),
    ...(securityGroupIds.length > 0 && { securityGroupIds }),
  };
}

/** Creates the requested volumes in cinder and reserves the given ones. */
function makeVolumes(compute: Compute, server: Readonly<Server>): void {
  const { volume: volumes } = compute.core.services;
  const own: ServerVolume[] = [];
  try {
    compute.core.state.transact(() => {
      for (const desired of server.deviceRequests) {
        if (desired.destination !== 'volume') continue;
        const volumeId = desired.source === 'volume' ? desired.uuid : makeVolume(compute, server, desired).id;
        if (desired.source === 'volume') volumes.reserve(volumeId);
        const isRoot = desired.bootIndex === 0;
        const used = own.map(({ device }) => device);
        own.push({
          volumeId,
          device: nextDevice(isRoot ? [] : ['/dev/sda', ...used]),
          isRoot,
          deleteOnTermination: desired.deleteOnTermination,
          tag: desired.tag,
          attachmentId: '',
          mappingId: compute.core.ids.uuid(),
          isAttached: false,
        });
      }
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    failBuild(compute, server, `Build of instance ${server.id} aborted: ${error.message}`);
    return;
  }
  awaitVolumes(compute, compute.change(server.id, { volumes: own, deviceRequests: [] }), {});
}

function makeVolume(
  compute: Compute,
  server: Readonly<Server>,
  desired: Server['deviceRequests'][number],
): { id: string } {
  return compute.core.services.volume.createVolume({
    projectId: server.projectId,
    userId: server.userId,
    name: '',
    size: desired.size,
    ...(desired.source === 'image' && { imageId: desired.uuid }),
    ...(desired.source === 'snapshot' && { snapshotId: desired.uuid }),
    ...(desired.volumeType !== '' && { volumeType: desired.volumeType }),
  });
}

/** Waits until the new volumes are available, then attaches all volumes. */
function awaitVolumes(compute: Compute, server: Readonly<Server>, { tries = 0 }: StepData): void {
  const { volume: volumes } = compute.core.services;
  for (const { volumeId } of server.volumes) {
    const status = volumes.volume(volumeId)?.status ?? 'deleted';
    if (status === 'reserved' || status === 'available' || status === 'in-use') continue;
    if ((status === 'creating' || status === 'downloading') && tries < volumeTries) {
      later(compute, 'server.volumePoll', step.awaitVolumes, server.id, { tries: tries + 1 });
      return;
    }
    failBuild(
      compute,
      server,
      `Build of instance ${server.id} aborted: Volume ${volumeId} did not finish being created even after we waited ${tries} seconds or ${tries} attempts. And its status is ${status}.`,
    );
    return;
  }
  const attached = server.volumes.map((each) => {
    if (volumes.volume(each.volumeId)?.status === 'available') volumes.reserve(each.volumeId);
    const { device } = each;
    const attachmentId = volumes.attach(each.volumeId, { serverId: server.id, device, host: server.host });
    return { ...each, attachmentId, isAttached: true };
  });
  spawn(compute, compute.change(server.id, { volumes: attached }));
}

function spawn(compute: Compute, server: Readonly<Server>): void {
  compute.change(server.id, { taskState: 'spawning' });
  later(compute, 'server.spawn', step.spawn, server.id);
}

function start(compute: Compute, server: Readonly<Server>, data: StepData): void {
  if (strikes(compute, server, { operation: 'server.build', kind: step.spawn, data })) return;
  const now = compute.core.now();
  compute.change(server.id, { vmState: 'active', taskState: null, powerState: 1, launchedAt: now });
  for (const { id } of server.ports) {
    if (compute.core.services.network.port(id)) compute.core.services.network.activatePort(id);
  }
  compute.finishAction(server.id, null);
  bootLines(compute, server);
  switchOn(compute, server.id);
}

/** Fails a build: removes the ports and volumes nova created, and sets the server's fault. */
function failBuild(compute: Compute, server: Readonly<Server>, message: string): void {
  const { network, volume: volumes } = compute.core.services;
  for (const { id, isOurs } of server.ports) {
    if (isOurs) network.deletePort(id);
    else if (network.port(id)) network.unbindPort(id);
  }
  for (const { volumeId, deleteOnTermination } of server.volumes) {
    if (!volumes.volume(volumeId)) continue;
    volumes.detach(volumeId, server.id);
    if (deleteOnTermination) volumes.deleteVolume(volumeId);
  }
  const now = compute.core.now();
  const isScheduled = server.host !== '' && message !== noValidHost;
  compute.change(server.id, {
    vmState: 'error',
    taskState: null,
    powerState: 0,
    ports: [],
    volumes: [],
    ...(!isScheduled && { host: '', hostId: '' }),
    fault: { code: 500, createdAt: now, message, details: '' },
  });
  compute.finishAction(server.id, 'Error');
}
