import { policiesOf } from '../core/caller.ts';
import { type BodySchema, isUuid } from '../core/checks/schema.ts';
import { outcomeOf } from '../core/faults/outcome.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, forbidden, notFound } from '../core/wrapped-refusals.ts';
import { nextDevice } from './block-devices.ts';
import type { Compute } from './compute.ts';
import { isYes, tagSchema } from './server-schema.ts';
import type { Server, ServerVolume } from './tables.ts';
import { mustBeIn } from './transitions.ts';

const job = { attach: 'compute.attachVolume', detach: 'compute.detachVolume' } as const;

export function defineVolumeAttachments(compute: Compute): void {
  const { jobs, timings } = compute.core;
  timings.declare({ 'server.attachVolume': [300, 900], 'server.detachVolume': [300, 900] });
  jobs.define<{ volumeId: string }>(job.attach, (serverId, { volumeId }) => {
    const server = compute.servers.get(serverId);
    const { volume: volumes } = compute.core.services;
    if (!server || !volumes.volume(volumeId)) return;
    const mine = server.volumes.find((each) => each.volumeId === volumeId);
    if (!mine) return;
    if (outcomeOf(compute.core, 'volume.attach', server)?.kind === 'stuck') return;
    const attachmentId = volumes.attach(volumeId, { serverId, device: mine.device, host: server.host });
    compute.change(serverId, {
      volumes: server.volumes.map((each) => (each === mine ? { ...each, attachmentId, isAttached: true } : each)),
    });
    compute.finishAction(serverId, null);
  });
  jobs.define<{ volumeId: string }>(job.detach, (serverId, { volumeId }) => {
    const server = compute.servers.get(serverId);
    if (!server || outcomeOf(compute.core, 'volume.detach', server)?.kind === 'stuck') return;
    compute.change(serverId, { volumes: server.volumes.filter((each) => each.volumeId !== volumeId) });
    const { volume: volumes } = compute.core.services;
    if (volumes.volume(volumeId)) volumes.detach(volumeId, serverId);
    compute.finishAction(serverId, null);
  });
}

/** Routes of the volumes attached to a server. */
export function volumeAttachmentRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api:os-volumes-attachments');
  const find = (context: RequestContext, server: Readonly<Server>): ServerVolume => {
    const id = context.param('volume');
    const mine = server.volumes.find(({ volumeId }) => volumeId === id);
    if (mine) return mine;
    const isKnown = context.method !== 'DELETE' || compute.core.services.volume.volume(id) !== undefined;
    throw notFound(
      isKnown ? `Instance ${server.id} is not attached to volume ${id}` : `Volume ${id} could not be found.`,
    );
  };
  const base = '/v2.1/servers/{id}/os-volume_attachments';
  return [
    {
      method: 'GET',
      path: base,
      policy: policy('index', 'reader'),
      handle: (context) => {
        const server = compute.server(context);
        return {
          status: 200,
          body: { volumeAttachments: server.volumes.map((each) => render(context, server, each)) },
        };
      },
    },
    {
      method: 'GET',
      path: `${base}/{volume}`,
      policy: policy('show', 'reader'),
      handle: (context) => {
        const server = compute.server(context);
        return { status: 200, body: { volumeAttachment: render(context, server, find(context, server)) } };
      },
    },
    { method: 'POST', path: base, policy: policy('create', 'member'), handle: (context) => attach(compute, context) },
    {
      method: 'PUT',
      path: `${base}/{volume}`,
      policy: policy('update', 'member'),
      handle: (context) => update(compute, context, find),
    },
    {
      method: 'DELETE',
      path: `${base}/{volume}`,
      policy: policy('delete', 'member'),
      handle: (context) => {
        const server = compute.server(context);
        const mine = find(context, server);
        if (mine.isRoot) throw badRequest('Cannot detach a root device volume');
        mustBeIn(server, 'detach_volume', ['active', 'suspended', 'paused', 'stopped', 'resized', 'soft-delete']);
        compute.core.services.volume.beginDetach(mine.volumeId);
        compute.record(server, 'detach_volume', context);
        const { jobs, timings } = compute.core;
        jobs.schedule(timings.sample('server.detachVolume'), job.detach, server.id, { volumeId: mine.volumeId });
        return { status: 202 };
      },
    },
  ];
}

const updateSchema = (minor: number): BodySchema => ({
  type: 'object',
  properties: {
    volumeAttachment: {
      type: 'object',
      properties: {
        volumeId: { type: 'string', format: 'uuid' },
        ...(minor >= 85 && {
          delete_on_termination: { type: ['boolean', 'string'] },
          device: { type: ['string', 'null'] },
          serverId: { type: 'string', format: 'uuid' },
          tag: { type: ['string', 'null'] },
          id: { type: 'string', format: 'uuid' },
        }),
      },
      required: ['volumeId'],
      additionalProperties: false,
    },
  },
  required: ['volumeAttachment'],
  additionalProperties: false,
});

/** Replaces an attached volume, which only operators do. From 2.85 on it can also change `delete_on_termination`. */
function update(
  compute: Compute,
  context: RequestContext,
  find: (context: RequestContext, server: Readonly<Server>) => ServerVolume,
): Answer {
  checkBody(updateSchema(context.minor), context.json);
  const fields = (context.json as { volumeAttachment: { volumeId: string; delete_on_termination?: boolean | string } })
    .volumeAttachment;
  const server = compute.server(context);
  const mine = find(context, server);
  const replaced = (changes: Partial<ServerVolume>): void =>
    void compute.change(server.id, {
      volumes: server.volumes.map((each) => (each === mine ? { ...each, ...changes } : each)),
    });
  if (fields.volumeId === mine.volumeId) {
    if (fields.delete_on_termination === undefined) return { status: 202 };
    replaced({ deleteOnTermination: isYes(fields.delete_on_termination) });
    return { status: 202 };
  }
  if (!context.caller.isAdmin) {
    throw forbidden("Policy doesn't allow os_compute_api:os-volumes-attachments:swap to be performed.");
  }
  mustBeIn(server, 'swap_volume', ['active', 'paused', 'resized']);
  const { volume: volumes } = compute.core.services;
  const volume = volumes.volume(fields.volumeId);
  if (!volume) throw badRequest(`Volume ${fields.volumeId} could not be found.`);
  const old = volumes.volume(mine.volumeId);
  if (old && volume.size < old.size) throw badRequest('New volume must be the same size or larger.');
  volumes.reserve(volume.id);
  const attachmentId = volumes.attach(volume.id, { serverId: server.id, device: mine.device, host: server.host });
  replaced({ volumeId: volume.id, attachmentId });
  if (old) volumes.detach(old.id, server.id);
  compute.record(server, 'swap_volume', context);
  compute.finishAction(server.id, null);
  return { status: 202 };
}

function attach(compute: Compute, context: RequestContext): Answer {
  const { minor } = context;
  checkBody(
    {
      type: 'object',
      properties: {
        volumeAttachment: {
          type: 'object',
          properties: {
            volumeId: { type: 'string', format: 'uuid' },
            device: { type: ['string', 'null'], pattern: '(^/dev/x{0,1}[a-z]{0,1}d{0,1})([a-z]+)[0-9]*$' },
            ...(minor >= 49 && { tag: tagSchema }),
            ...(minor >= 79 && { delete_on_termination: { type: ['boolean', 'string'] } }),
          },
          required: ['volumeId'],
          additionalProperties: false,
        },
      },
      required: ['volumeAttachment'],
      additionalProperties: false,
    },
    context.json,
  );
  const desired = (
    context.json as {
      volumeAttachment: { volumeId: string; device?: string; tag?: string; delete_on_termination?: boolean };
    }
  ).volumeAttachment;
  const server = compute.server(context);
  const { volume: volumes } = compute.core.services;
  const volume = isUuid(desired.volumeId) ? volumes.volume(desired.volumeId) : undefined;
  if (!volume || (volume.projectId !== context.project && !context.caller.isAdmin)) {
    throw notFound(`Volume ${desired.volumeId} could not be found.`);
  }
  mustBeIn(server, 'attach_volume', ['active', 'suspended', 'paused', 'stopped', 'resized', 'soft-delete']);
  const isMine = server.volumes.some(({ volumeId }) => volumeId === volume.id);
  if (isMine || (volume.attachedTo.length > 0 && !volume.multiattach)) {
    throw badRequest(
      `Invalid volume: volume ${volume.id} is already attached to instances: ${volume.attachedTo.join(', ') || server.id}`,
    );
  }
  if (volume.status !== 'available' && !(volume.multiattach && volume.status === 'in-use')) {
    throw badRequest(
      `Invalid volume: Volume ${volume.id} status must be available or downloading to reserve, but the current status is ${volume.status}.`,
    );
  }
  volumes.reserve(volume.id);
  const mine: ServerVolume = {
    volumeId: volume.id,
    device: nextDevice(['/dev/sda', ...server.volumes.map(({ device }) => device)]),
    isRoot: false,
    deleteOnTermination: desired.delete_on_termination === true,
    tag: desired.tag ?? null,
    attachmentId: '',
    mappingId: compute.core.ids.uuid(),
    isAttached: false,
  };
  compute.change(server.id, { volumes: [...server.volumes, mine] });
  compute.record(server, 'attach_volume', context);
  const { jobs, timings } = compute.core;
  jobs.schedule(timings.sample('server.attachVolume'), job.attach, server.id, { volumeId: volume.id });
  return { status: 200, body: { volumeAttachment: render(context, server, mine) } };
}

function render({ minor }: RequestContext, server: Readonly<Server>, volume: ServerVolume): object {
  return {
    ...(minor < 89 && { id: volume.volumeId }),
    serverId: server.id,
    volumeId: volume.volumeId,
    device: volume.device,
    ...(minor >= 70 && { tag: volume.tag }),
    ...(minor >= 79 && { delete_on_termination: volume.deleteOnTermination }),
    ...(minor >= 89 && { attachment_id: volume.attachmentId || null, bdm_uuid: volume.mappingId }),
  };
}
