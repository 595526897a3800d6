import type { BodySchema } from '../core/checks/schema.ts';
import type { NewImage } from '../core/contracts.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { wholeSeconds } from '../core/time-formats.ts';
import { badRequest, checkBody, forbidden, notFound, wrappedIn } from '../core/wrapped-refusals.ts';
import { openType } from './types.ts';
import { imageMetadata } from './views.ts';
import type { Volume, Volumes } from './volumes.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Values that cinder accepts as true and false. */
const truths: ReadonlySet<unknown> = new Set<unknown>([
  true,
  'True',
  'TRUE',
  'true',
  '1',
  'ON',
  'On',
  'on',
  'YES',
  'Yes',
  'yes',
  'y',
  't',
]);
const falsehoods: ReadonlySet<unknown> = new Set<unknown>([
  false,
  'False',
  'FALSE',
  'false',
  '0',
  'OFF',
  'Off',
  'off',
  'NO',
  'No',
  'no',
  'n',
  'f',
]);

/** Formats a boolean like Python. */
const capital = (value: unknown): string => (value === true ? 'True' : 'False');

interface Action {
  readonly policy: string;
  readonly adminOnly?: boolean;
  /** first microversion with this action */
  readonly since?: number;
  run(volumes: Volumes, context: RequestContext, volume: Readonly<Volume>, fields: Fields): Answer;
}

const accepted: Answer = { status: 202 };

/** Route of POST /volumes/{id}/action. The only key of the body names the action. */
export function actionRoute(volumes: Volumes): Route {
  return {
    method: 'POST',
    path: '/volumes/{id}/action',
    handle(context) {
      const body = (context.json ?? {}) as Fields;
      const name = Object.keys(body)[0] ?? '';
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
      if (!action || (action.since ?? 0) > context.minor) {
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
    run(volumes, context, volume, { new_size: desired }) {
      checkBody(extendSchema, context.json);
      const size = Number(desired);
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
      const isReadOnly = truths.has(readonly);
      if (!isReadOnly && !falsehoods.has(readonly)) {
        const known = [...truths, ...falsehoods].map((value) =>
          typeof value === 'string' ? `'${value}'` : capital(value),
        );
        throw badRequest(
          `Invalid input for field/attribute readonly. Value: ${String(readonly)}. '${String(readonly)}' is not one of [${known.join(', ')}]`,
        );
      }
      volumes.change(volume.id, { metadata: { ...volume.metadata, readonly: capital(isReadOnly) } });
      return accepted;
    },
  },
  'os-retype': {
    policy: 'volume:retype',
    run(volumes, context, volume, { new_type: desired }) {
      const type = openType(volumes, context, String(desired));
      if (!type) throw notFound(`Volume type with name ${String(desired)} could not be found.`);
      volumes.change(volume.id, { typeId: type.id });
      return accepted;
    },
  },
  'os-attach': {
    policy: 'volume_extension:volume_actions:attach',
    run(volumes, _context, volume, { instance_uuid: server, host_name: host, mountpoint, mode = 'rw' }) {
      if (typeof mountpoint !== 'string') throw badRequest("'mountpoint' is a required property");
      if ((server === undefined) === (host === undefined)) {
        throw badRequest('Invalid request to attach volume to an invalid target');
      }
      if (!['available', 'attaching', 'reserved'].includes(volume.status)) {
        throw badRequest(`Invalid volume: volume is not available to be attached, it is ${volume.status}.`);
      }
      const attachment = {
        id: volumes.core.ids.uuid(),
        serverId: String(server ?? ''),
        host: String(host ?? ''),
        device: mountpoint,
        attachedAt: volumes.core.now(),
        mode: String(mode),
      };
      volumes.change(volume.id, { status: 'in-use', attachments: [...volume.attachments, attachment] });
      return accepted;
    },
  },
  'os-detach': {
    policy: 'volume_extension:volume_actions:detach',
    run(volumes, _context, volume, { attachment_id: id }) {
      const left = id === undefined || id === null ? [] : volume.attachments.filter((each) => each.id !== id);
      volumes.change(volume.id, { status: left.length > 0 ? 'in-use' : 'available', attachments: left });
      return accepted;
    },
  },
  'os-reserve': {
    policy: 'volume_extension:volume_actions:reserve',
    run(volumes, _context, volume) {
      volumes.mustBeFree(volume);
      if (volume.attachments.length === 0) volumes.change(volume.id, { status: 'attaching' });
      return accepted;
    },
  },
  'os-unreserve': {
    policy: 'volume_extension:volume_actions:unreserve',
    run: (volumes, _context, volume) => backFrom(volumes, volume, 'attaching', 'available'),
  },
  'os-begin_detaching': {
    policy: 'volume_extension:volume_actions:begin_detaching',
    run(volumes, _context, volume) {
      if (volume.status !== 'in-use') {
        throw badRequest(
          `Invalid volume: Unable to detach volume. Volume status must be 'in-use', it is ${volume.status}.`,
        );
      }
      volumes.change(volume.id, { status: 'detaching' });
      return accepted;
    },
  },
  'os-roll_detaching': {
    policy: 'volume_extension:volume_actions:roll_detaching',
    run: (volumes, _context, volume) => backFrom(volumes, volume, 'detaching', 'in-use'),
  },
  'os-initialize_connection': {
    policy: 'volume_extension:volume_actions:initialize_connection',
    run(_volumes, _context, volume, { connector }) {
      if (typeof connector !== 'object' || connector === null) throw badRequest("'connector' is a required property");
      const data = { volume_id: volume.id, access_mode: 'rw', discard: false, encrypted: false };
      return { status: 200, body: { connection_info: { driver_volume_type: 'simulated', data } } };
    },
  },
  'os-terminate_connection': {
    policy: 'volume_extension:volume_actions:terminate_connection',
    run(_volumes, _context, _volume, { connector }) {
      if (typeof connector !== 'object' || connector === null) throw badRequest("'connector' is a required property");
      return accepted;
    },
  },
  'os-set_image_metadata': {
    policy: 'volume_extension:volume_image_metadata:set',
    run(volumes, _context, volume, { metadata }) {
      const given = textsOf(metadata);
      const merged = { ...textsOf(imageMetadata(volume)), ...given };
      volumes.change(volume.id, { imageMetadata: merged });
      return { status: 200, body: { metadata: merged } };
    },
  },
  'os-show_image_metadata': {
    policy: 'volume_extension:volume_image_metadata:show',
    run: (_volumes, _context, volume) => ({ status: 200, body: { metadata: imageMetadata(volume) } }),
  },
  'os-unset_image_metadata': {
    policy: 'volume_extension:volume_image_metadata:remove',
    run(volumes, _context, volume, { key }) {
      const { [String(key)]: removed, ...rest } = textsOf(imageMetadata(volume));
      if (removed === undefined) throw notFound('Metadata item was not found.');
      volumes.change(volume.id, { imageMetadata: rest });
      return { status: 200 };
    },
  },
  'os-reimage': {
    policy: 'volume:reimage',
    since: 68,
    run(volumes, context, volume, { image_id: id, reimage_reserved: isForced }) {
      const { image: images } = volumes.core.services;
      const image = typeof id === 'string' ? images.image(id) : undefined;
      if (!image || !images.canUse(image, context.project, context.caller.isAdmin)) {
        throw badRequest('Invalid image identifier or unable to access requested image.');
      }
      const allowed = ['available', 'error', ...(isForced === true ? ['reserved'] : [])];
      if (!allowed.includes(volume.status)) {
        throw badRequest(`Invalid volume: Volume ${volume.id} status must be ${allowed.join(' or ')}.`);
      }
      if (image.minDisk > volume.size) {
        throw badRequest(
          `Invalid input received: Volume size ${volume.size}GB cannot be smaller than the image minDisk size ${image.minDisk}GB.`,
        );
      }
      volumes.reimage(volume, image);
      return accepted;
    },
  },
  'os-volume_upload_image': {
    policy: 'volume_extension:volume_actions:upload_image',
    run: uploadImage,
  },
};

const uploadSchema = wrappedIn('os-volume_upload_image', {
  type: 'object',
  properties: {
    image_name: { type: 'string', minLength: 1, maxLength: 255 },
    force: { type: ['boolean', 'string', 'null'] },
    disk_format: { type: 'string', enum: ['raw', 'vmdk', 'vdi', 'qcow2', 'vhd', 'vhdx', 'ploop'] },
    container_format: { type: 'string', enum: ['aki', 'ami', 'ari', 'bare', 'compressed', 'docker', 'ova', 'ovf'] },
    visibility: { type: 'string', enum: ['community', 'public', 'private', 'shared'] },
    protected: { type: ['boolean', 'string'] },
  },
  required: ['image_name'],
});

/** Creates an image of a volume. */
function uploadImage(volumes: Volumes, context: RequestContext, volume: Readonly<Volume>, fields: Fields): Answer {
  checkBody(uploadSchema, context.json);
  const isTrue = (value: unknown): boolean => /^(?:true|1|yes|on)$/i.test(String(value));
  const isUsable = volume.status === 'available' || (volume.status === 'in-use' && isTrue(fields['force']));
  if (!isUsable) {
    throw badRequest(`Invalid volume: Volume ${volume.id} status must be available or in-use but is ${volume.status}.`);
  }
  const visibility = (fields['visibility'] ?? 'private') as NonNullable<NewImage['visibility']>;
  if (visibility === 'public' && !context.caller.isAdmin) {
    throw forbidden("Policy doesn't allow volume_extension:volume_actions:upload_public to be performed.");
  }
  const text = (name: string, otherwise: string): string => String(fields[name] ?? otherwise);
  const [diskFormat, containerFormat] = [text('disk_format', 'raw'), text('container_format', 'bare')];
  const imageId = volumes.upload(volume, {
    name: text('image_name', ''),
    diskFormat,
    containerFormat,
    visibility,
    isProtected: isTrue(fields['protected']),
    properties: volume.image?.properties ?? {},
  });
  const type = volumes.types.get(volume.typeId);
  return {
    status: 202,
    body: {
      'os-volume_upload_image': {
        id: volume.id,
        updated_at: wholeSeconds(volumes.core.now()),
        status: 'uploading',
        display_description: volume.description,
        size: volume.size,
        volume_type: type ? { id: type.id, name: type.name } : null,
        image_id: imageId,
        image_name: fields['image_name'],
        disk_format: diskFormat,
        container_format: containerFormat,
        ...(context.minor >= 1 && { visibility, protected: isTrue(fields['protected']) }),
      },
    },
  };
}

/** Resets a state the volume is in because of an earlier action. Other states do not change. */
function backFrom(volumes: Volumes, volume: Readonly<Volume>, from: string, to: string): Answer {
  if (volume.status === from) volumes.change(volume.id, { status: to });
  return accepted;
}

function textsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) throw badRequest("'metadata' is a required property");
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)]));
}
