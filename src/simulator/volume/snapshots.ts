import { type Policy, policiesOf } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { type Operation, type Resource, resourceRoutes } from '../core/resource.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, forbidden, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import { type Listing, listPage } from './list.ts';
import { metadataRoutes } from './metadata.ts';
import { renderSnapshot } from './views.ts';
import type { Snapshot, Volumes } from './volumes.ts';

const listing: Listing<Readonly<Snapshot>> = {
  key: 'snapshots',
  noun: 'Snapshot',
  filters: {
    name: ({ name }, value) => (name ?? '') === value,
    status: ({ status }, value) => status === value,
    volume_id: ({ volumeId }, value) => volumeId === value,
  },
  sortable: {
    id: ({ id }) => id,
    display_name: ({ name }) => name,
    volume_id: ({ volumeId }) => volumeId,
    status: ({ status }) => status,
    created_at: ({ createdAt }) => createdAt,
  },
};

export function snapshotRoutes(volumes: Volumes): Route[] {
  const policy = policiesOf('volume');
  const rows = (context: RequestContext): Iterable<Readonly<Snapshot>> =>
    context.caller.isAdmin && context.query.has('all_tenants')
      ? volumes.snapshots.all()
      : volumes.snapshots.by('project', context.project);
  const list = (context: RequestContext, form: 'listed' | 'shown'): Answer => ({
    status: 200,
    body: listPage(context, rows(context), listing, (row) => renderSnapshot(row, context, form)),
  });
  const policies: Readonly<Record<Operation, Policy>> = {
    list: policy('get_all_snapshots', 'reader'),
    create: policy('create_snapshot', 'member'),
    show: policy('get_snapshot', 'reader'),
    update: policy('update_snapshot', 'member'),
    delete: policy('delete_snapshot', 'member'),
  };
  const forms = { list: 'listed', create: 'created', show: 'shown', update: 'listed', delete: 'listed' } as const;
  const resource: Resource<Snapshot> = {
    path: '/snapshots',
    name: 'snapshot',
    statuses: { create: 202, delete: 202 },
    policy: (operation) => policies[operation],
    find: (context) => volumes.findSnapshot(context),
    view: (snapshot, context, operation) => renderSnapshot(snapshot, context, forms[operation]),
    list: (context) => list(context, 'listed'),
    detail: (context) => list(context, 'shown'),
    create(context) {
      checkBody(createSchema, context.json);
      const desired = (context.json as { snapshot: Readonly<Record<string, unknown>> }).snapshot;
      const volume = volumes.volumes.get(String(desired['volume_id']));
      if (volume?.projectId !== context.project) {
        throw notFound(`Volume ${String(desired['volume_id'] ?? 'None')} could not be found.`);
      }
      const isForced = desired['force'] === true || desired['force'] === 'True' || context.minor >= 66;
      if (volume.status !== 'available' && !(volume.status === 'in-use' && isForced)) {
        throw badRequest(
          `Invalid volume: Volume ${volume.id} status must be available, but current status is: ${volume.status}.`,
        );
      }
      return volumes.createSnapshot({
        name: typeof desired['name'] === 'string' ? desired['name'] : null,
        description: typeof desired['description'] === 'string' ? desired['description'] : null,
        projectId: volume.projectId,
        userId: context.caller.userId,
        volumeId: volume.id,
        size: volume.size,
        metadata: (desired['metadata'] as Record<string, string> | undefined) ?? {},
      });
    },
    update(context) {
      checkBody(updateSchema, context.json);
      const fields = (context.json as { snapshot: Readonly<Record<string, string | null>> }).snapshot;
      const snapshot = volumes.findSnapshot(context);
      const name = fields['name'] ?? fields['display_name'];
      const description = fields['description'] ?? fields['display_description'];
      if (name === undefined && description === undefined) {
        throw badRequest("Invalid input received: At least one of 'name' or 'description' must be given.");
      }
      return volumes.snapshots.update(snapshot.id, {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        updatedAt: volumes.core.now(),
      });
    },
    delete(snapshot) {
      if (snapshot.status !== 'available' && snapshot.status !== 'error') {
        throw badRequest(
          'Invalid snapshot: Snapshot status must be available or error and must not be migrating, attached, belong to a group, have snapshots.',
        );
      }
      volumes.removeSnapshot(snapshot);
    },
  };
  return [
    ...resourceRoutes(resource),
    { method: 'POST', path: '/snapshots/{id}/action', handle: (context) => act(volumes, context) },
    ...metadataRoutes('Snapshot', {
      read: (context) => volumes.findSnapshot(context).metadata,
      write(context, metadata) {
        volumes.snapshots.update(volumes.findSnapshot(context).id, { metadata, updatedAt: volumes.core.now() });
      },
    }),
  ];
}

const createSchema = wrappedIn('snapshot', {
  type: 'object',
  properties: { volume_id: { type: ['string', 'null'], format: 'uuid' } },
  required: ['volume_id'],
});

const text = { type: ['string', 'null'], maxLength: 255 };

const updateSchema = wrappedIn('snapshot', {
  type: 'object',
  properties: { name: text, description: text, display_name: text, display_description: text },
});

const statuses = ['available', 'creating', 'deleting', 'error', 'error_deleting'];

/** Status transitions that a driver may report for a snapshot. */
const reported: Readonly<Record<string, readonly string[]>> = {
  creating: ['creating', 'available', 'error'],
  deleting: ['deleting', 'error_deleting'],
};

interface SnapshotAction {
  readonly policy: string;
  /** open to members of the project; otherwise only to operators */
  readonly isForMembers?: boolean;
  run(volumes: Volumes, snapshot: Readonly<Snapshot>, fields: Readonly<Record<string, unknown>>): void;
}

/** Actions of snapshots, mostly for operators. */
const actions: Readonly<Record<string, SnapshotAction>> = {
  'os-reset_status': {
    policy: 'volume_extension:snapshot_admin_actions:reset_status',
    run({ snapshots, core }, { id }, { status }) {
      if (typeof status !== 'string' || !statuses.includes(status)) {
        throw badRequest(`Must specify a valid status: ${statuses.join(', ')}.`);
      }
      snapshots.update(id, { status, updatedAt: core.now() });
    },
  },
  'os-update_snapshot_status': {
    policy: 'snapshot_extension:snapshot_actions:update_snapshot_status',
    isForMembers: true,
    run({ snapshots, core }, { id, status: current }, { status }) {
      if (!Object.hasOwn(reported, current)) {
        throw badRequest(`Snapshot status ${current} not allowed for update_snapshot_status`);
      }
      if (typeof status !== 'string' || !(reported[current] ?? []).includes(status)) {
        throw badRequest(`Provided snapshot status ${String(status)} not allowed for snapshot with status ${current}.`);
      }
      snapshots.update(id, { status, updatedAt: core.now() });
    },
  },
  'os-force_delete': {
    policy: 'volume_extension:snapshot_admin_actions:force_delete',
    run: (volumes, snapshot) => volumes.removeSnapshot(snapshot),
  },
};

function act(volumes: Volumes, context: RequestContext): Answer {
  const body = (context.json ?? {}) as Readonly<Record<string, unknown>>;
  const name = Object.keys(body)[0] ?? '';
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw badRequest(`There is no such action: ${name}.`);
  if (!action.isForMembers && !context.caller.isAdmin)
    throw forbidden(`Policy doesn't allow ${action.policy} to be performed.`);
  const value = body[name];
  const fields = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  action.run(volumes, volumes.findSnapshot(context), fields);
  return { status: 202 };
}
