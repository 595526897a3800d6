import type { JsonObject } from '../../machinery/index.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { onlyOne, type Readable, readable } from '../resource/collection.ts';
import { flag, numberOr, text, textMap } from '../resource/read.ts';

export interface Flavor {
  readonly id: string;
  readonly name: string;
  readonly vcpus: number;
  /** MiB */
  readonly ram: number;
  /** GiB; 0 if servers of this flavor must boot from a volume */
  readonly disk: number;
  /** GiB */
  readonly ephemeral: number;
  /** MiB */
  readonly swap: number;
  readonly isPublic: boolean;
  readonly disabled: boolean;
  readonly extraSpecs: Readonly<Record<string, string>>;
}

export interface FlavorFilter {
  /** minimum in MiB */
  readonly minRam?: number | undefined;
  /** minimum in GiB */
  readonly minDisk?: number | undefined;
}

export type Flavors = Readable<Flavor, FlavorFilter>;

export function flavors(service: ServiceClient): Flavors {
  const all = readable<Flavor, FlavorFilter>(service, {
    path: '/flavors',
    listPath: '/flavors/detail',
    one: 'flavor',
    many: 'flavors',
    parse: parseFlavor,
    spelling: { minRam: 'minRam', minDisk: 'minDisk' },
  });
  return {
    ...all,
    // nova cannot filter flavors by name.
    async find(name, filter, options) {
      const found: Flavor[] = [];
      for await (const flavor of all.list(filter, options)) if (flavor.name === name) found.push(flavor);
      return onlyOne(service.type, 'flavors', name, found);
    },
  };
}

function parseFlavor(value: JsonObject): Flavor {
  return {
    id: text(value, 'id'),
    name: text(value, 'name'),
    vcpus: numberOr(value, 'vcpus', 0),
    ram: numberOr(value, 'ram', 0),
    disk: numberOr(value, 'disk', 0),
    ephemeral: numberOr(value, 'OS-FLV-EXT-DATA:ephemeral', 0),
    swap: numberOr(value, 'swap', 0),
    isPublic: flag(value, 'os-flavor-access:is_public', { fallback: true }),
    disabled: flag(value, 'OS-FLV-DISABLED:disabled'),
    extraSpecs: textMap(value, 'extra_specs'),
  };
}
