import type { JsonObject } from '../../machinery/index.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { onlyOne, type Readable, readable } from '../resource/collection.ts';
import { flag, text, textIf, textMap } from '../resource/read.ts';

export interface VolumeType {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly isPublic: boolean;
  readonly extraSpecs: Readonly<Record<string, string>>;
}

export interface VolumeTypes extends Readable<VolumeType, object> {
  /** default type of new volumes */
  default(options?: CallOptions): Promise<VolumeType>;
}

const path = '/types';

export function volumeTypes(service: ServiceClient): VolumeTypes {
  const all = readable<VolumeType, object>(service, { path, one: 'volume_type', many: 'volume_types', parse });
  return {
    ...all,
    // cinder cannot filter types by name.
    async find(name, _filter, options) {
      const found: VolumeType[] = [];
      for await (const type of all.list(undefined, options)) if (type.name === name) found.push(type);
      return onlyOne(service.type, 'volume_types', name, found);
    },
    async default(options = {}) {
      const answer = await service.request({ method: 'GET', path: `${path}/default`, ...options });
      return answer.one('volume_type', parse);
    },
  };
}

function parse(value: JsonObject): VolumeType {
  return {
    id: text(value, 'id'),
    name: text(value, 'name'),
    description: textIf(value, 'description'),
    isPublic: flag(value, 'is_public', { fallback: true }),
    extraSpecs: textMap(value, 'extra_specs'),
  };
}
