import { must } from '../../machinery/index.ts';
import type { Policy, PolicyLevel } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { wholeSeconds } from '../core/time-formats.ts';
import { badRequest, checkBody, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import { type Listing, listPage } from './list.ts';
import type { Attachment, Volume, Volumes } from './volumes.ts';

const since = 27;

const createSchema = wrappedIn('attachment', {
  type: 'object',
  properties: {
    instance_uuid: { type: ['string', 'null'], format: 'uuid' },
    volume_uuid: { type: 'string', format: 'uuid' },
    connector: { type: ['object', 'null'] },
    mode: { type: 'string', enum: ['ro', 'rw'] },
  },
  required: ['volume_uuid'],
});

const updateSchema = wrappedIn('attachment', {
  type: 'object',
  properties: { connector: { type: 'object' }, mode: { type: 'string', enum: ['ro', 'rw'] } },
  required: ['connector'],
});

/** An attachment with its volume. */
interface Held extends Attachment {
  readonly volume: Readonly<Volume>;
}

const listing: Listing<Held> = {
  key: 'attachments',
  noun: 'Attachment',
  filters: {
    volume_id: ({ volume }, value) => volume.id === value,
    instance_id: ({ serverId }, value) => serverId === value,
    status: (held, value) => statusOf(held) === value,
  },
  sortable: { id: ({ id }) => id },
};

function statusOf({ status = 'attached' }: Attachment): string {
  return status;
}

/** Routes of attachments: reserved first, attaching once the connector is known, then attached. */
export function attachmentRoutes(volumes: Volumes): Route[] {
  const policy = (name: string, level: PolicyLevel): Policy => ({ name: `volume:attachment_${name}`, level });
  function* all({ caller, query, project }: RequestContext): Generator<Held> {
    const everywhere = caller.isAdmin && /^(?:1|true|yes)$/i.test(query.get('all_tenants') ?? '');
    for (const volume of everywhere ? volumes.volumes.all() : volumes.volumes.by('project', project)) {
      for (const attachment of volume.attachments) yield { ...attachment, volume };
    }
  }
  const find = (context: RequestContext): Held => {
    const id = context.param('id');
    for (const volume of volumes.volumes.all()) {
      if (volume.projectId !== context.project && !context.caller.isAdmin) continue;
      const attachment = volume.attachments.find((each) => each.id === id);
      if (attachment) return { ...attachment, volume };
    }
    throw notFound(`Volume attachment could not be found with filter: attachment_id = ${id}.`);
  };
  const brief = (held: Held): object => ({
    id: held.id,
    status: statusOf(held),
    instance: held.serverId,
    volume_id: held.volume.id,
  });
  const full = (held: Held): object => ({
    ...brief(held),
    attached_at: statusOf(held) === 'attached' ? wholeSeconds(held.attachedAt) : '',
    detached_at: '',
    attach_mode: held.mode ?? 'rw',
    connection_info: held.host === '' ? {} : { attachment_id: held.id, driver_volume_type: 'simulated' },
  });
  const set = (held: Held, changes: Partial<Attachment>, status: string): Held => {
    const { volume, ...attachment } = held;
    const attachments = volume.attachments.map((each) => (each.id === held.id ? { ...attachment, ...changes } : each));
    const isShared = volume.attachments.some((each) => each.id !== held.id && statusOf(each) === 'attached');
    volumes.change(volume.id, { attachments, status: isShared ? 'in-use' : status });
    return again(held.id, volume.id);
  };
  const again = (id: string, volumeId: string): Held => {
    const volume = volumes.volumes.known(volumeId);
    return {
      ...must(
        volume.attachments.find((each) => each.id === id),
        'value',
      ),
      volume,
    };
  };
  const policies: Readonly<Record<Operation, Policy>> = {
    list: policy('list', 'reader'),
    create: policy('create', 'member'),
    show: policy('get', 'reader'),
    update: policy('update', 'member'),
    delete: policy('delete', 'member'),
  };
  return [
    ...resourceRoutes<Held>({
      path: '/attachments',
      name: 'attachment',
      statuses: { create: 200 },
      policy: (operation) => policies[operation],
      versions: () => ({ since }),
      find,
      view: full,
      list: (context) => ({ status: 200, body: listPage(context, all(context), listing, brief) }),
      detail: (context) => ({ status: 200, body: listPage(context, all(context), listing, full) }),
      create(context) {
        checkBody(createSchema, context.json);
        const fields = (context.json as { attachment: Readonly<Record<string, unknown>> }).attachment;
        const volume = volumes.find(context, String(fields['volume_uuid']));
        volumes.mustBeFree(volume);
        const connector = fields['connector'] as Readonly<Record<string, unknown>> | null | undefined;
        const attachment: Attachment = {
          id: volumes.core.ids.uuid(),
          serverId: typeof fields['instance_uuid'] === 'string' ? fields['instance_uuid'] : '',
          device: '',
          host: hostOf(connector),
          attachedAt: volumes.core.now(),
          status: connector ? 'attaching' : 'reserved',
          ...(typeof fields['mode'] === 'string' && { mode: fields['mode'] }),
        };
        const isShared = volume.attachments.length > 0;
        volumes.change(volume.id, {
          attachments: [...volume.attachments, attachment],
          status: isShared ? volume.status : (attachment.status ?? 'reserved'),
        });
        return again(attachment.id, volume.id);
      },
      update(context) {
        checkBody(updateSchema, context.json);
        const { connector } = (context.json as { attachment: { connector: Record<string, unknown> } }).attachment;
        const held = find(context);
        const device = typeof connector['mountpoint'] === 'string' ? connector['mountpoint'] : held.device;
        return set(held, { host: hostOf(connector), device, status: 'attaching' }, 'attaching');
      },
    }),
    {
      method: 'POST',
      path: '/attachments/{id}/action',
      since: 44,
      policy: policy('complete', 'member'),
      handle: (context): Answer => {
        const [name] = Object.keys((context.json ?? {}) as object);
        if (name !== 'os-complete') throw badRequest(`There is no such action: ${name ?? ''}.`);
        const held = find(context);
        set(held, { status: 'attached', attachedAt: volumes.core.now() }, 'in-use');
        return { status: 204 };
      },
    },
    {
      method: 'DELETE',
      path: '/attachments/{id}',
      since,
      policy: policies.delete,
      handle: (context): Answer => {
        const { volume, id } = find(context);
        const left = volume.attachments.filter((each) => each.id !== id);
        volumes.change(volume.id, { attachments: left, status: left.length > 0 ? 'in-use' : 'available' });
        const attachments = left.map((each) => brief({ ...each, volume }));
        return { status: 200, body: { attachments } };
      },
    },
  ];
}

function hostOf(connector: Readonly<Record<string, unknown>> | null | undefined): string {
  return typeof connector?.['host'] === 'string' ? connector['host'] : connector ? 'unknown' : '';
}
