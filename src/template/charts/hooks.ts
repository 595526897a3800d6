import { isJsonObject, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';
import { compareStrings } from '../values/index.ts';
import type { Manifest } from './manifests.ts';

export type HookEvent =
  | 'pre-install'
  | 'post-install'
  | 'pre-delete'
  | 'post-delete'
  | 'pre-upgrade'
  | 'post-upgrade'
  | 'pre-rollback'
  | 'post-rollback'
  | 'test';

export type HookDeletePolicy = 'before-hook-creation' | 'hook-succeeded' | 'hook-failed';

export interface RenderedObject {
  /** for example `chart/templates/x.yaml` */
  readonly source: string;
  readonly object: UnstructuredObject;
}

/** A Helm hook: an object that is created at an event of a release and does not belong to it. */
export interface RenderedHook extends RenderedObject {
  readonly events: readonly HookEvent[];
  /** ascending order of execution */
  readonly weight: number;
  readonly deletePolicies: readonly HookDeletePolicy[];
}

const events: ReadonlyMap<string, HookEvent> = new Map<string, HookEvent>([
  ['pre-install', 'pre-install'],
  ['post-install', 'post-install'],
  ['pre-delete', 'pre-delete'],
  ['post-delete', 'post-delete'],
  ['pre-upgrade', 'pre-upgrade'],
  ['post-upgrade', 'post-upgrade'],
  ['pre-rollback', 'pre-rollback'],
  ['post-rollback', 'post-rollback'],
  ['test', 'test'],
  ['test-success', 'test'],
]);
const deletePolicies: readonly string[] = ['before-hook-creation', 'hook-succeeded', 'hook-failed'];

const words = (text: string): string[] => text.split(',').map((word) => word.trim().toLowerCase());

/**
 * Reads the hook annotations of a document. Returns undefined if it is not a hook, 'unknown' if Helm does not run it.
 */
export function hookOf(manifest: Manifest, object: UnstructuredObject): RenderedHook | 'unknown' | undefined {
  const annotations = annotationsOf(manifest.value);
  const wanted = annotations['helm.sh/hook'];
  if (typeof wanted !== 'string') return undefined;
  const found = words(wanted).map((word) => events.get(word));
  if (found.includes(undefined)) return 'unknown';
  const weight = annotations['helm.sh/hook-weight'];
  const policies = annotations['helm.sh/hook-delete-policy'];
  const given = typeof policies === 'string' ? words(policies) : [];
  const isKnown = (word: string): word is HookDeletePolicy => deletePolicies.includes(word);
  return {
    source: manifest.source,
    object,
    events: found.filter((event) => event !== undefined),
    weight: typeof weight === 'string' && /^[+-]?[0-9]+$/.test(weight) ? Number(weight) : 0,
    deletePolicies: given.length === 0 ? ['before-hook-creation'] : given.filter(isKnown),
  };
}

function annotationsOf({ metadata }: JsonObject): JsonObject {
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

/** Returns the hooks of an event in order of execution: by weight, then by name. */
export function hooksFor(hooks: readonly RenderedHook[], event: HookEvent): RenderedHook[] {
  return hooks
    .filter((hook) => hook.events.includes(event))
    .sort((a, b) => a.weight - b.weight || compareStrings(a.object.metadata.name ?? '', b.object.metadata.name ?? ''));
}
