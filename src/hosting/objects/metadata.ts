import { createHash } from 'node:crypto';
import type { ConfigMap } from '../../api/index.ts';
import type { ObjectMeta } from '../../machinery/index.ts';
import type { PlanePart } from '../naming/types.ts';
import type { EtcdClusterSpec, ExtraMetadata } from '../spec.ts';

/** Builds object metadata. Identifying labels override those of owner and user. */
export function metadataOf(
  desired: EtcdClusterSpec,
  name: string,
  part: PlanePart,
  extra: ExtraMetadata = {},
): ObjectMeta & { labels: Record<string, string> } {
  const { identity, naming } = desired;
  const annotations = { ...identity.metadata?.annotations, ...extra.annotations };
  return {
    name,
    namespace: identity.namespace,
    labels: { ...identity.metadata?.labels, ...extra.labels, ...naming.labels(part) },
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ownerReferences: [identity.owner],
  };
}

export function configMap(
  desired: EtcdClusterSpec,
  name: string,
  part: PlanePart,
  data: Record<string, string>,
): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(desired, name, part), data };
}

/** Short checksum independent of key order, valid as a label value. */
export function checksumOf(content: unknown): string {
  return createHash('sha256').update(canonical(content)).digest('hex').slice(0, 32);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
