import type { ConfigMap, DownwardApiFile, KeyToPath, Pod, Secret } from '../../api/index.ts';
import type { VolumeFile } from '../containers/types.ts';
import { containerResource, type PodContext, podField } from './downward.ts';

// Builds the files of volumes that come from objects.

/** Reason why a volume cannot be mounted, in a kubelet's words. */
export class MountError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MountError';
  }
}

/** Decoded contents by object version, because a Secret may be mounted into many Pods. */
const decoded = new WeakMap<object, Map<string, Buffer>>();

function contentsOf(object: Secret | ConfigMap): ReadonlyMap<string, Buffer> {
  const known = decoded.get(object);
  if (known) return known;
  const contents = new Map<string, Buffer>();
  if (object.kind === 'ConfigMap') {
    const { data, binaryData } = object as ConfigMap;
    for (const [key, text] of Object.entries(data ?? {})) contents.set(key, Buffer.from(text, 'utf8'));
    for (const [key, text] of Object.entries(binaryData ?? {})) contents.set(key, Buffer.from(text, 'base64'));
  } else {
    for (const [key, text] of Object.entries((object as Secret).data ?? {})) {
      contents.set(key, Buffer.from(text, 'base64'));
    }
  }
  decoded.set(object, contents);
  return contents;
}

/** Files of a Secret or ConfigMap: all keys, or the selected ones at their paths. */
export function objectFiles(
  object: Secret | ConfigMap,
  options: { items?: readonly KeyToPath[]; mode: number; optional: boolean },
): Map<string, VolumeFile> {
  const contents = contentsOf(object);
  const files = new Map<string, VolumeFile>();
  if (!options.items || options.items.length === 0) {
    for (const [key, content] of contents) files.set(key, { content, mode: options.mode });
    return files;
  }
  for (const { key, path, mode } of options.items) {
    const content = contents.get(key);
    if (content) files.set(path, { content, mode: mode ?? options.mode });
    else if (!options.optional) {
      const kind = object.kind === 'ConfigMap' ? 'config' : 'secret';
      throw new MountError(`references non-existent ${kind} key: ${key}`);
    }
  }
  return files;
}

export function downwardFiles(
  pod: Pod,
  items: readonly DownwardApiFile[],
  defaultMode: number,
  around: PodContext,
): Map<string, VolumeFile> {
  const files = new Map<string, VolumeFile>();
  for (const { path, fieldRef, resourceFieldRef, mode } of items) {
    const value = fieldRef
      ? podField(pod, fieldRef.fieldPath, around)
      : resourceFieldRef && containerResource(pod, resourceFieldRef, undefined, around);
    if (value === undefined) throw new MountError(`downward API file ${path} refers to nothing a pod has`);
    files.set(path, { content: Buffer.from(value, 'utf8'), mode: mode ?? defaultMode });
  }
  return files;
}
