import type { BodySchema } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Volume, Volumes } from './volumes.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Action {
  readonly policy: string;
  readonly adminOnly?: boolean;
  run(volumes: Volumes, context: RequestContext, volume: Readonly<Volume>, fields: Fields): Answer;
}

const accepted: Answer = { status: 202 };

/** POST /volumes/{id}/action: the one key of the body names the action. */
export function actionRoute(volumes: Volumes): Route {
  return {
    method: 'POST',
    path: '/volumes/{id}/action',
    handle(context) {
      const body = (context.json ?? {}) as Fields;
      const name = Object.keys(body)[0] ?? '';
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      if (!action) {
        throw badRequest(
          `There is no such action: ${name}. Verify the request body and Content-Type header and try again.`,
        );
      }
      if (action.adminOnly ? !context.caller.isAdmin : !context.caller.canWrite) {
        throw forbidden(`Policy doesn't allow ${action.policy} to be performed.`);
      }
      const value = body[name];
      const fields = typeof value === 'object' && value !== null ? (value as Fields) : {};
      return action.run(volumes, context, volumes.find(context), fields);
    },
  };
}

const extendSchema: BodySchema = {
  type: 'object',
  properties: {
    'os-extend': {
      type: 'object',
      properties: { new_size: { type: ['integer', 'string'], pattern: '^[0-9]+$', minimum: 1, minLength: 1 } },
      required: ['new_size'],
    },
  },
};

const actions: Readonly<Record<string, Action>> = {
  'os-extend': {
    policy: 'volume:extend',
    run(volumes, context, volume, { new_size: wish }) {
      checkBody(extendSchema, context.json);
      const size = Number(wish);
      const isUsable = volume.status === 'available' || (volume.status === 'in-use' && context.minor >= 42);
      if (!isUsable) {
        throw badRequest(
          `Invalid volume: Volume ${volume.id} status must be '{'status': 'available'}' to extend, currently ${volume.status}.`,
        );
      }
      if (size <= volume.size) {
        throw badRequest(
          `Invalid input received: New size for extend must be greater than current size. (current: ${volume.size}, extended: ${size}).`,
        );
      }
      volumes.extend(volume, size);
      return accepted;
    },
  },
  'os-reset_status': {
    policy: 'volume_extension:volume_admin_actions:reset_status',
    adminOnly: true,
    run(volumes, _context, volume, { status }) {
      if (typeof status === 'string') {
        volumes.change(volume.id, { status, ...(status === 'available' && { attachments: [] }) });
      }
      return accepted;
    },
  },
  'os-force_delete': {
    policy: 'volume_extension:volume_admin_actions:force_delete',
    adminOnly: true,
    run(volumes, _context, volume) {
      volumes.remove(volume);
      return accepted;
    },
  },
  'os-set_bootable': {
    policy: 'volume_extension:volume_actions:set_bootable',
    run(volumes, _context, volume, { bootable }) {
      volumes.change(volume.id, { isBootable: bootable === true || bootable === 'True' || bootable === 'true' });
      return { status: 200 };
    },
  },
  'os-update_readonly_flag': {
    policy: 'volume:update_readonly_flag',
    run(volumes, _context, volume, { readonly }) {
      volumes.change(volume.id, { metadata: { ...volume.metadata, readonly: String(readonly) } });
      return accepted;
    },
  },
  'os-retype': {
    policy: 'volume:retype',
    run(volumes, _context, volume, { new_type: wish }) {
      const type = volumes.findType(String(wish));
      if (!type) throw notFound(`Volume type with name ${String(wish)} could not be found.`);
      volumes.change(volume.id, { typeId: type.id });
      return accepted;
    },
  },
  'os-detach': {
    policy: 'volume_extension:volume_actions:detach',
    run(volumes, _context, volume) {
      volumes.change(volume.id, { status: 'available', attachments: [] });
      return accepted;
    },
  },
};
