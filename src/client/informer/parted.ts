import { isJsonObject, type KubeObject, must, type Resource } from '../../machinery/index.ts';
import { isAtLeast } from '../resource-version.ts';
import type { ObjectKey } from '../types.ts';
import type { Informer, Lister } from './types.ts';

/**
 * A kind with only some objects cached completely, selected by labels and types. For all others only metadata is
 * requested and cached. Each object is in exactly one part.
 */
export interface PartedResource {
  readonly resource: Resource;
  /** objects with one of these labels are cached completely */
  readonly labels: readonly string[];
  /** objects with one of these values of the field `type` are, too */
  readonly types: readonly string[];
}

export interface InformerPart {
  readonly labelSelector: string;
  readonly fieldSelector?: string;
  readonly metadataOnly: boolean;
}

/** Returns the parts in which a kind is watched. */
export function partsOf({ labels, types }: PartedResource): InformerPart[] {
  const unlabelled = labels.map((label) => `!${label}`);
  const others = types.map((type) => `type!=${type}`).join(',');
  return [
    ...labels.map((label, index) => ({
      labelSelector: [...unlabelled.slice(0, index), label].join(','),
      metadataOnly: false,
    })),
    ...types.map((type) => ({
      labelSelector: unlabelled.join(','),
      fieldSelector: `type=${type}`,
      metadataOnly: false,
    })),
    { labelSelector: unlabelled.join(','), ...(others !== '' && { fieldSelector: others }), metadataOnly: true },
  ];
}

/** Returns the index of the part that contains an object. */
function partIndex({ labels, types }: PartedResource, object: KubeObject): number {
  const label = labels.findIndex((name) => object.metadata.labels?.[name] !== undefined);
  if (label >= 0) return label;
  const type = isJsonObject(object) ? types.indexOf(String(object['type'])) : -1;
  return labels.length + (type >= 0 ? type : types.length);
}

/** Combines several informers of one resource, one per part, into a single one. */
export function partedInformer<T extends KubeObject>(
  parted: PartedResource,
  create: (part: InformerPart) => Informer<T>,
): Informer<T> {
  const parts = partsOf(parted).map(create);
  const rest = must(parts.at(-1), 'the part of all others');
  return {
    resource: rest.resource,
    namespace: rest.namespace,
    labelSelector: undefined,
    fieldSelector: undefined,
    lister: partedLister(parts.map(({ lister }) => lister)),
    parts,
    partWith: (object) => parts[partIndex(parted, object)] ?? rest,
    async run(signal) {
      await Promise.all(parts.map((part) => part.run(signal)));
    },
    hasSynced: () => parts.every((part) => part.hasSynced()),
    async waitForSync(signal) {
      await Promise.all(parts.map((part) => part.waitForSync(signal)));
    },
    addHandler(handler) {
      const removers = parts.map((part) => part.addHandler(handler));
      return () => {
        for (const remove of removers) remove();
      };
    },
    addIndexer(name, indexer) {
      for (const part of parts) part.addIndexer(name, indexer);
    },
    // The oldest version, because all parts have seen the events up to it.
    resourceVersion: () =>
      parts
        .map((part) => part.resourceVersion())
        .reduce((oldest, other) => (isAtLeast(other, oldest) ? oldest : other)),
    async waitForResourceVersion(resourceVersion, options) {
      const seen = await Promise.all(parts.map((part) => part.waitForResourceVersion(resourceVersion, options)));
      return seen.every(Boolean);
    },
    lastError: () => parts.map((part) => part.lastError()).find((error) => error !== undefined),
  };
}

function partedLister<T extends KubeObject>(parts: readonly Lister<T>[]): Lister<T> {
  return {
    get(key: ObjectKey) {
      for (const part of parts) {
        const found = part.get(key);
        if (found) return found;
      }
      return undefined;
    },
    list: (options) => parts.flatMap((part) => part.list(options)),
    byIndex: (index, value) => parts.flatMap((part) => part.byIndex(index, value)),
    countByIndex: (index, value) => parts.reduce((sum, part) => sum + part.countByIndex(index, value), 0),
    indexValues: (index) => new Set(parts.flatMap((part) => [...part.indexValues(index)])),
    get size() {
      return parts.reduce((sum, part) => sum + part.size, 0);
    },
  };
}
