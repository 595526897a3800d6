import { type ConfigMap, ConfigMaps, type Secret } from '../../../api/index.ts';
import { checksumOf, type PlaneSpec } from '../../../hosting/index.ts';
import { isJsonObject } from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';

/** Fields of a Pod spec that name Secrets and ConfigMaps. */
const secretFields = new Set(['secretName']);
const referenceFields = new Set([
  'secret',
  'configMap',
  'secretRef',
  'configMapRef',
  'secretKeyRef',
  'configMapKeyRef',
]);

/** Lists Secrets and ConfigMaps that users mount into the Pods of a plane. */
export function mountedByUser(desired: PlaneSpec): string[] {
  const names = new Set<string>();
  const walk = (value: unknown, field: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, field);
    if (!isJsonObject(value)) return;
    if (referenceFields.has(field) && typeof value['name'] === 'string') names.add(value['name']);
    for (const [key, child] of Object.entries(value)) {
      if (secretFields.has(key) && typeof child === 'string') names.add(child);
      else walk(child, key);
    }
  };
  for (const part of [
    desired.components,
    desired.pods,
    desired.k0s?.manifests,
    desired.k0s?.mounts,
    desired.apiServer.audit,
  ])
    walk(part, '');
  return [...names].sort();
}

/**
 * Checksums of mounted content. They change the Pod template, so Pods restart when files change that are read only at
 * startup.
 */
export function mountedChecksums(
  desired: PlaneSpec,
  cache: CacheReader,
  read: (key: { namespace: string; name: string }) => Secret | undefined,
): Map<string, string> {
  const { namespace } = desired.identity;
  const sums = new Map<string, string>();
  const { secrets, bundles } = desired.naming;
  const places = [...Object.values(secrets), ...Object.values(bundles)].map(({ name }) => name);
  places.push(...Object.values(desired.certificates.external ?? {}));
  for (const name of new Set([...places, desired.naming.encryptionKeys, ...mountedByUser(desired)])) {
    const content: Secret | ConfigMap | undefined =
      read({ namespace, name }) ?? cache.lister(ConfigMaps).get({ namespace, name });
    if (content) sums.set(name, contentChecksum(content));
  }
  return sums;
}

const known = new WeakMap<object, string>();

/** Memoized: cached objects are immutable. */
function contentChecksum(content: Secret | ConfigMap): string {
  const remembered = known.get(content);
  if (remembered !== undefined) return remembered;
  const sum = checksumOf(content.data ?? {});
  known.set(content, sum);
  return sum;
}
