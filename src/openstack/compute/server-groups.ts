import type { JsonObject } from '../../machinery/index.ts';
import { compareVersions } from '../discovery/versions.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Deletable, deleteAt, onlyOne, type Readable, readable } from '../resource/collection.ts';
import { text, textIf, texts } from '../resource/read.ts';

export type ServerGroupPolicy = 'affinity' | 'anti-affinity' | 'soft-affinity' | 'soft-anti-affinity';

/** Servers that must (or must not) share a host. */
export interface ServerGroup {
  readonly id: string;
  readonly name: string;
  readonly policy: string;
  /** ids of servers */
  readonly members: readonly string[];
}

export interface ServerGroupSpec {
  readonly name: string;
  readonly policy: ServerGroupPolicy;
}

export interface ServerGroups extends Readable<ServerGroup, object>, Deletable {
  create(desired: ServerGroupSpec, options?: CallOptions): Promise<ServerGroup>;
}

const path = '/os-server-groups';

export function serverGroups(service: ServiceClient): ServerGroups {
  const all = readable<ServerGroup, object>(service, {
    path,
    one: 'server_group',
    many: 'server_groups',
    parse: parseServerGroup,
  });
  return {
    ...all,
    // nova cannot filter server groups by name.
    async find(name, _filter, options) {
      const found: ServerGroup[] = [];
      for await (const group of all.list(undefined, options)) if (group.name === name) found.push(group);
      return onlyOne(service.type, 'server_groups', name, found);
    },
    async create({ name, policy }, options = {}) {
      const version = (await service.microversion(options.signal)) ?? '2.1';
      const isList = compareVersions(version, '2.64') < 0;
      const json = { server_group: isList ? { name, policies: [policy] } : { name, policy } };
      const answer = await service.request({ method: 'POST', path, json, ...options });
      return answer.one('server_group', parseServerGroup);
    },
    delete: (id, options = {}) => deleteAt(service, `${path}/${id}`, options),
  };
}

function parseServerGroup(value: JsonObject): ServerGroup {
  return {
    id: text(value, 'id'),
    name: text(value, 'name'),
    policy: textIf(value, 'policy') ?? texts(value, 'policies')[0] ?? '',
    members: texts(value, 'members'),
  };
}
