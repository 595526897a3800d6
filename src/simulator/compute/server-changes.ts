import type { RequestContext } from '../core/http/context.ts';
import type { Answer } from '../core/service.ts';
import { badRequest, checkBody, checkName, forbidden, wrappedIn } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { replaceDisk, switchOff, switchOn } from './machines.ts';
import { hostnameSchema, metadataSchema } from './server-schema.ts';
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
    adminPass: { type: 'string' },
    metadata: metadataSchema,
    preserve_ephemeral: { type: ['boolean', 'string'] },
    'OS-DCF:diskConfig': { type: 'string', enum: ['AUTO', 'MANUAL'] },
    accessIPv4: { type: 'string', format: 'ipv4' },
    accessIPv6: { type: 'string', format: 'ipv6' },
    description: { type: ['string', 'null'], maxLength: 255 },
    key_name: { type: ['string', 'null'] },
    user_data: { type: ['string', 'null'], format: 'base64', maxLength: 65535 },
    hostname: hostnameSchema,
    personality: { type: 'array' },
    trusted_image_certificates: { type: ['array', 'null'] },
  },
  required: ['imageRef'],
  additionalProperties: false,
});

/** Microversion of the fields added later. */
const rebuildSince: Readonly<Record<string, number>> = {
  description: 19,
  key_name: 54,
  user_data: 57,
  trusted_image_certificates: 63,
  hostname: 90,
};

const createImageSchema = wrappedIn('createImage', {
  type: 'object',
  properties: { name, metadata: metadataSchema },
  required: ['name'],
});

/** Defines the slow changes of a server: rebuild and resize. */
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
    const isOff = server.vmState === 'stopped';
    compute.change(id, {
      vmState: isOff ? 'stopped' : 'active',
      taskState: null,
      powerState: isOff ? 4 : 1,
      fault: undefined,
      launchedAt: compute.core.now(),
    });
    compute.finishAction(id, null);
    replaceDisk(compute, id);
    if (!isOff) switchOn(compute, id);
  });
  jobs.define<{ flavor: ServerFlavor }>(job.resized, (id, { flavor }) => {
    const server = compute.servers.get(id);
    if (server?.taskState !== 'resize_prep') return;
    // A stopped server stays stopped.
    const powerState = server.vmState === 'stopped' ? 4 : 1;
    compute.change(id, { vmState: 'resized', taskState: null, powerState, previousFlavor: server.flavor, flavor });
    compute.finishAction(id, null);
    if (powerState === 1) switchOn(compute, id);
  });
  jobs.define<{ revert: boolean }>(job.settled, (id, { revert }) => {
    const server = compute.servers.get(id);
    if (server?.vmState !== 'resized') return;
    const flavor = revert && server.previousFlavor ? server.previousFlavor : server.flavor;
    const vmState = server.powerState === 1 ? 'active' : 'stopped';
    compute.change(id, { vmState, taskState: null, flavor, previousFlavor: undefined });
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
  for (const [field, since] of Object.entries(rebuildSince)) {
    if (!(field in fields) || context.minor >= since) continue;
    throw badRequest(`Additional properties are not allowed ('${field}' was unexpected)`);
  }
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
    ...(typeof fields['user_data'] === 'string' && { userData: fields['user_data'] }),
    ...('description' in fields && { description: fields['description'] as string | null }),
    ...(typeof fields['hostname'] === 'string' && { hostname: fields['hostname'] }),
    ...(typeof fields['accessIPv4'] === 'string' && { accessIPv4: fields['accessIPv4'] }),
    ...(typeof fields['accessIPv6'] === 'string' && { accessIPv6: fields['accessIPv6'] }),
    ...(typeof fields['OS-DCF:diskConfig'] === 'string' && { diskConfig: fields['OS-DCF:diskConfig'] }),
    ...keyOf(compute, context, fields['key_name']),
  });
  compute.core.jobs.schedule(compute.core.timings.sample('server.rebuild'), job.rebuilt, server.id);
  return {
    status: 202,
    body: {
      server: { ...renderChangedServer(compute, context, changed), adminPass: compute.core.ids.secret(12) },
    },
  };
}

/** Returns the new key, or null for none. Without the field the key stays the same. */
function keyOf(
  compute: Compute,
  { caller }: RequestContext,
  name: unknown,
): Partial<Pick<Server, 'keyName' | 'publicKey'>> {
  if (name === undefined) return {};
  if (name === null) return { keyName: null, publicKey: '' };
  const key = compute.keyPairs.get(`${caller.userId}/${String(name)}`);
  if (!key) throw badRequest('Invalid key_name provided.');
  return { keyName: key.name, publicKey: key.publicKey };
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
  settle(compute, server, { revert: false });
  return { status: 204 };
}

export function revertResize(compute: Compute, server: Readonly<Server>): undefined {
  settle(compute, server, { revert: true });
  compute.change(server.id, { taskState: 'resize_reverting' });
  return undefined;
}

function settle(compute: Compute, server: Readonly<Server>, { revert }: { revert: boolean }): void {
  mustBeIn(server, revert ? 'revertResize' : 'confirmResize', ['resized']);
  compute.core.jobs.schedule(compute.core.timings.sample('server.resizeConfirm'), job.settled, server.id, { revert });
}

/** Creates an image of a server. Glance shows it as `queued` at once and `active` when it is complete. */
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
