import { segment } from '../../http/query.ts';
import type { Call, CallOptions, ServiceClient } from '../../http/service-client.ts';
import { type Deletable, deleteAt, type Readable, readable, type Updatable } from '../../resource/collection.ts';
import type {
  InterfaceAttachment,
  Server,
  ServerAction,
  ServerChanges,
  ServerFilter,
  ServerSpec,
  VolumeAttachment,
} from './types.ts';
import {
  exactName,
  parseInterface,
  parseServer,
  parseServerAction,
  parseVolumeAttachment,
  schedulerHints,
  serverBody,
  serverQuery,
} from './wire.ts';

export interface Servers extends Readable<Server, ServerFilter>, Updatable<Server, ServerChanges>, Deletable {
  /** Returns only the id, as nova does. The server then builds asynchronously. */
  create(desired: ServerSpec, options?: CallOptions): Promise<{ readonly id: string }>;
  start(id: string, options?: CallOptions): Promise<void>;
  stop(id: string, options?: CallOptions): Promise<void>;
  reboot(id: string, type: 'SOFT' | 'HARD', options?: CallOptions): Promise<void>;
  /** returns the last lines of the console, or all of it without `lines` */
  consoleOutput(id: string, options?: CallOptions & { readonly lines?: number }): Promise<string>;
  /** adds or changes metadata items */
  setMetadata(id: string, metadata: Readonly<Record<string, string>>, options?: CallOptions): Promise<void>;
  deleteMetadata(id: string, key: string, options?: CallOptions): Promise<boolean>;
  replaceTags(id: string, tags: readonly string[], options?: CallOptions): Promise<void>;
  addTag(id: string, tag: string, options?: CallOptions): Promise<void>;
  removeTag(id: string, tag: string, options?: CallOptions): Promise<boolean>;
  interfaces(id: string, options?: CallOptions): Promise<InterfaceAttachment[]>;
  attachInterface(
    id: string,
    target: { readonly portId: string } | { readonly networkId: string },
    options?: CallOptions,
  ): Promise<InterfaceAttachment>;
  detachInterface(id: string, portId: string, options?: CallOptions): Promise<boolean>;
  volumeAttachments(id: string, options?: CallOptions): Promise<VolumeAttachment[]>;
  attachVolume(
    id: string,
    volume: { readonly volumeId: string; readonly device?: string | undefined },
    options?: CallOptions,
  ): Promise<VolumeAttachment>;
  detachVolume(id: string, volumeId: string, options?: CallOptions): Promise<boolean>;
  /** actions on the server, newest first */
  actions(id: string, options?: CallOptions): Promise<ServerAction[]>;
}

const path = '/servers';

export function servers(service: ServiceClient): Servers {
  const at = (id: string, part = ''): string => `${path}/${segment(id)}${part}`;
  const act = async (id: string, action: object, options: CallOptions): Promise<void> => {
    await service.request({ method: 'POST', path: at(id, '/action'), json: action, ...options });
  };
  return {
    ...readable<Server, ServerFilter>(service, {
      path,
      listPath: '/servers/detail',
      one: 'server',
      many: 'servers',
      parse: parseServer,
      query: serverQuery,
      nameQuery: (name) => ({ name: exactName(name) }),
    }),
    async create(desired, options = {}) {
      const hints = schedulerHints(desired);
      const answer = await service.request({
        method: 'POST',
        path,
        json: { server: serverBody(desired), ...(hints && { 'os:scheduler_hints': hints }) },
        needs: needsOf(desired),
        ...options,
      });
      return answer.one('server', (server) => ({ id: String(server['id']) }));
    },
    async update(id, changes, options = {}) {
      const answer = await service.request({ method: 'PUT', path: at(id), json: { server: changes }, ...options });
      return answer.one('server', parseServer);
    },
    delete: (id, options = {}) => deleteAt(service, at(id), options),
    start: (id, options = {}) => act(id, { 'os-start': null }, options),
    stop: (id, options = {}) => act(id, { 'os-stop': null }, options),
    reboot: (id, type, options = {}) => act(id, { reboot: { type } }, options),
    async consoleOutput(id, { lines, ...options } = {}) {
      const answer = await service.request({
        method: 'POST',
        path: at(id, '/action'),
        json: { 'os-getConsoleOutput': lines === undefined ? {} : { length: lines } },
        repeatable: true,
        ...options,
      });
      const { output } = answer.object();
      return typeof output === 'string' ? output : '';
    },
    async setMetadata(id, metadata, options = {}) {
      await service.request({
        method: 'POST',
        path: at(id, '/metadata'),
        json: { metadata },
        repeatable: true,
        ...options,
      });
    },
    deleteMetadata: (id, key, options = {}) => deleteAt(service, at(id, `/metadata/${segment(key)}`), options),
    async replaceTags(id, tags, options = {}) {
      await service.request({ method: 'PUT', path: at(id, '/tags'), json: { tags }, ...options });
    },
    async addTag(id, tag, options = {}) {
      await service.request({ method: 'PUT', path: at(id, `/tags/${segment(tag)}`), ...options });
    },
    removeTag: (id, tag, options = {}) => deleteAt(service, at(id, `/tags/${segment(tag)}`), options),
    async interfaces(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: at(id, '/os-interface'), ...options });
      return answer.many('interfaceAttachments', parseInterface);
    },
    async attachInterface(id, target, options = {}) {
      const json = {
        interfaceAttachment: 'portId' in target ? { port_id: target.portId } : { net_id: target.networkId },
      };
      const answer = await service.request({ method: 'POST', path: at(id, '/os-interface'), json, ...options });
      return answer.one('interfaceAttachment', parseInterface);
    },
    detachInterface: (id, portId, options = {}) =>
      deleteAt(service, at(id, `/os-interface/${segment(portId)}`), options),
    async volumeAttachments(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: at(id, '/os-volume_attachments'), ...options });
      return answer.many('volumeAttachments', parseVolumeAttachment);
    },
    async attachVolume(id, volume, options = {}) {
      const json = { volumeAttachment: volume };
      const answer = await service.request({
        method: 'POST',
        path: at(id, '/os-volume_attachments'),
        json,
        ...options,
      });
      return answer.one('volumeAttachment', parseVolumeAttachment);
    },
    detachVolume: (id, volumeId, options = {}) =>
      deleteAt(service, at(id, `/os-volume_attachments/${segment(volumeId)}`), options),
    async actions(id, options = {}) {
      const answer = await service.request({ method: 'GET', path: at(id, '/os-instance-actions'), ...options });
      return answer.many('instanceActions', parseServerAction);
    },
  };
}

/** Microversion of the newest feature a request uses. */
function needsOf(desired: ServerSpec): Call['needs'] {
  if (desired.blockDevices?.some((device) => device.volumeType !== undefined)) {
    return { version: '2.67', for: 'the volume type of a block device' };
  }
  if (desired.tags && desired.tags.length > 0) return { version: '2.52', for: 'a server with tags' };
  return undefined;
}
