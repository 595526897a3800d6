import type { RequestContext } from '../core/http/context.ts';
import type { Answer } from '../core/service.ts';
import { badRequest, checkBody, checkName, forbidden, wrappedIn } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { replaceDisk, switchOff, switchOn } from './machines.ts';
import { metadataSchema } from './server-schema.ts';
import { renderChangedServer } from './server-view.ts';
import type { Server, ServerFlavor } from './tables.ts';
import { mustBeIn } from './transitions.ts';

type Fields = Readonly<Record<string, unknown>>;

const job = { rebuilt: 'compute.rebuilt', resized: 'compute.resized', settled: 'compute.resizeSettled' } as const;

const name = { type: 'string', minLength: 1, maxLength: 255 };

const rebuildSchema = wrappedIn('rebuild', {
  type: 'object',
  properties: {
    imageRef: { type: 'string', format: 'uuid' },
    name,
    metadata: metadataSchema,
    user_data: { type: ['string', 'null'], format: 'base64', maxLength: 65535 },
  },
  required: ['imageRef'],
});

const createImageSchema = wrappedIn('createImage', {
  type: 'object',
  properties: { name, metadata: metadataSchema },
  required: ['name'],
});

/** Changes of a server that take time: another image, another flavor. */
export function defineChanges(compute: Compute): void {
  const { jobs, timings } = compute.core;
  timings.declare({
    'server.rebuild': [1500, 3000],
    'server.resize': [2000, 4000],
    'server.resizeConfirm': [500, 1000],
  });
  jobs.define(job.rebuilt, (id) => {
    const server = compute.servers.get(id);
    if (server?.taskState !== 'rebuilding') return;
    compute.change(id, {
      vmState: 'active',
      taskState: null,
      powerState: 1,
      fault: undefined,
      launchedAt: compute.core.now(),
    });
    compute.finishAction(id, null);
    replaceDisk(compute, id);
    switchOn(compute, id);
  });
  jobs.define<{ flavor: ServerFlavor }>(job.resized, (id, { flavor }) => {
    const server = compute.servers.get(id);
    if (server?.taskState !== 'resize_prep') return;
    compute.change(id, { vmState: 'resized', taskState: null, powerState: 1, previousFlavor: server.flavor, flavor });
    compute.finishAction(id, null);
    switchOn(compute, id);
  });
  jobs.define<{ revert: boolean }>(job.settled, (id, { revert }) => {
    const server = compute.servers.get(id);
    if (server?.vmState !== 'resized') return;
    const flavor = revert && server.previousFlavor ? server.previousFlavor : server.flavor;
    compute.change(id, { vmState: 'active', taskState: null, flavor, previousFlavor: undefined });
    compute.finishAction(id, null);
  });
}

export function beginRebuild(
  compute: Compute,
  context: RequestContext,
  server: Readonly<Server>,
  fields: Fields,
): Answer {
  checkBody(rebuildSchema, context.json);
  const imageId = String(fields['imageRef']);
  checkName(fields['name']);
  const { image: images } = compute.core.services;
  const image = images.image(imageId);
  if (!image || !images.canUse(image, context.project, context.caller.isAdmin)) {
    throw badRequest('Cannot find image for rebuild');
  }
  mustBeIn(server, 'rebuild', ['active', 'stopped', 'error']);
  if (server.powerState === 1) switchOff(compute, server.id, 'reboot');
  const changed = compute.change(server.id, {
    taskState: 'rebuilding',
    ...(server.imageId !== '' && { imageId }),
    ...(typeof fields['name'] === 'string' && { name: fields['name'] }),
    ...(fields['metadata'] !== undefined && { metadata: fields['metadata'] as Record<string, string> }),
    ...(typeof fields['user_data'] === 'string' && context.minor >= 57 && { userData: fields['user_data'] }),
  });
  compute.core.jobs.schedule(compute.core.timings.sample('server.rebuild'), job.rebuilt, server.id);
  return {
    status: 202,
    body: {
      server: { ...renderChangedServer(compute, context, changed), adminPass: compute.core.ids.secret(12) },
    },
  };
}

export function beginResize(compute: Compute, server: Readonly<Server>, flavor: ServerFlavor): undefined {
  mustBeIn(server, 'resize', ['active', 'stopped']);
  const more = { cores: flavor.vcpus - server.flavor.vcpus, ram: flavor.ram - server.flavor.ram };
  const excess = compute.core.quotas.excess('compute', server.projectId, more);
  if (excess) {
    const { resource, requested, used, limit } = excess;
    throw forbidden(
      `Quota exceeded for ${resource}: Requested ${requested}, but already used ${used} of ${limit} ${resource}`,
    );
  }
  if (server.powerState === 1) switchOff(compute, server.id, 'reboot');
  compute.change(server.id, { taskState: 'resize_prep' });
  compute.core.jobs.schedule(compute.core.timings.sample('server.resize'), job.resized, server.id, { flavor });
  return undefined;
}

export function confirmResize(compute: Compute, server: Readonly<Server>): Answer {
  settle(compute, server, false);
  return { status: 204 };
}

export function revertResize(compute: Compute, server: Readonly<Server>): undefined {
  settle(compute, server, true);
  compute.change(server.id, { taskState: 'resize_reverting' });
  return undefined;
}

function settle(compute: Compute, server: Readonly<Server>, revert: boolean): void {
  mustBeIn(server, revert ? 'revertResize' : 'confirmResize', ['resized']);
  compute.core.jobs.schedule(compute.core.timings.sample('server.resizeConfirm'), job.settled, server.id, { revert });
}

/** Makes an image of a server: glance has it `queued` at once and `active` when it is done. */
export function snapshotServer(
  compute: Compute,
  context: RequestContext,
  server: Readonly<Server>,
  fields: Fields,
): Answer {
  checkBody(createImageSchema, context.json);
  const name = String(fields['name']);
  mustBeIn(server, 'createImage', ['active', 'stopped', 'paused', 'suspended']);
  const metadata = (fields['metadata'] as Record<string, string> | undefined) ?? {};
  const id = compute.core.services.image.createSnapshot({
    name,
    projectId: context.project,
    baseImageId: server.imageId,
    serverId: server.id,
    userId: context.caller.userId,
    properties: metadata,
  });
  if (context.minor >= 45) return { status: 202, body: { image_id: id } };
  return { status: 202, headers: { location: `${context.serviceUrl}/images/${id}` } };
}
