import {
  asTyped,
  clone,
  deepEqual,
  must,
  type ResourceDefinition,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { AdmissionStep } from '../admission/index.ts';
import { loopbackUser } from '../auth/index.ts';
import type { ServedResource } from '../registry/index.ts';
import type { ResourceApi } from '../service/resource-api.ts';
import type { Caller } from '../service/types.ts';
import { keyPrefix, objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { approvalAnnotation, isProtectedGroup } from './approval.ts';
import { defaultCrd } from './defaults.ts';
import type { CustomResourceDefinition } from './types.ts';

const settings = { dryRun: false, fieldManager: 'capstan', fieldValidation: 'Ignore' } as const;

/** Says to people why a definition cannot be changed; owning it keeps ownership of the other fields from being guessed. */
export const builtInAnnotation = 'capstan.dev/built-in';
const annotations = { [builtInAnnotation]: 'true' };

/** Kinds of protected groups that are compiled in serve what the community reviewed, and are no definition of theirs. */
function marksOf({ spec }: NonNullable<ResourceDefinition['crd']>): Record<string, string> {
  const { group = '' } = spec as { group?: string };
  return isProtectedGroup(group)
    ? { ...annotations, [approvalAnnotation]: 'unapproved, built into the server' }
    : annotations;
}

/** Kinds that are compiled in, by the name of the CustomResourceDefinition they are published as. */
export type NativeKinds = ReadonlyMap<string, ResourceDefinition>;

/**
 * Keeps the definitions of compiled-in kinds what they are, whoever writes them. People install other programs whose
 * manifests bring their own definitions of the same kinds, with other versions and a conversion webhook: that must
 * neither fail nor make a definition say what the server does not do. Metadata is theirs, but for our labels.
 */
export class NativeDefinitions {
  readonly #native: NativeKinds;
  /** definitions by name with their defaults, made when first asked for: the program fills the map after us */
  readonly #wanted = new Map<string, CustomResourceDefinition>();
  /** drafts in which somebody wanted something else */
  readonly #overruled = new WeakSet<object>();

  constructor(native: NativeKinds) {
    this.#native = native;
  }

  pin(draft: CustomResourceDefinition): void {
    const wanted = this.#find(draft.metadata.name ?? '');
    if (!wanted) return;
    draft.metadata.labels = { ...draft.metadata.labels, ...wanted.metadata.labels };
    if (draft.spec && deepEqual(draft.spec, wanted.spec)) return;
    if (draft.spec) this.#overruled.add(draft);
    draft.spec = clone(wanted.spec);
  }

  has(name: string): boolean {
    return this.#native.has(name);
  }

  warnings(object: UnstructuredObject): string[] {
    if (!this.#overruled.has(object)) return [];
    return [`${object.metadata.name} is built into this server: its spec stays as it is, only metadata can be changed`];
  }

  #find(name: string): CustomResourceDefinition | undefined {
    const known = this.#wanted.get(name);
    const crd = known ? undefined : this.#native.get(name)?.crd;
    if (!crd) return known;
    const wanted = asTyped<CustomResourceDefinition>(clone(crd));
    defaultCrd(wanted);
    this.#wanted.set(name, wanted);
    return wanted;
  }
}

/**
 * The definition of a compiled-in kind can be deleted only while nobody uses it, and comes back at once: removing other
 * programs by their manifests must not take all clusters with it, nor fail where nothing is lost.
 */
export function nativeDefinitionsStay(native: NativeKinds, store: Store<StoredObject>): AdmissionStep {
  return {
    name: 'NativeDefinitions',
    concerns: ({ group }) => group === 'apiextensions.k8s.io',
    operations: ['DELETE'],
    appliesTo: ({ target }) => native.has(target.name),
    validate({ target }) {
      const count = store.count(keyPrefix(must(native.get(target.name), 'native.get(target.name)')));
      if (count === 0) return;
      const { group, plural } = target.resource.definition;
      const subject = { group, resource: plural, name: target.name };
      const used = count === 1 ? 'one object of it exists' : `${count} objects of it exist`;
      throw statusError.forbidden(subject, `this definition is built into the server and ${used}`);
    },
  };
}

/** True when the stored definition is already ours as it is now: writing it again would cost a validation at every start. */
function isPublished(api: ResourceApi, crds: ServedResource, crd: NonNullable<ResourceDefinition['crd']>): boolean {
  const live = api.context.store.head(
    objectKey(crds.resource.keySpace, undefined, must(crd.metadata.name, 'metadata.name')),
  )?.value.object;
  if (live?.metadata.annotations?.[builtInAnnotation] === undefined) return false;
  const wanted = asTyped<CustomResourceDefinition>(clone(crd));
  defaultCrd(wanted);
  const labels = Object.entries(wanted.metadata.labels ?? {});
  return deepEqual(live.spec, wanted.spec) && labels.every(([key, value]) => live.metadata.labels?.[key] === value);
}

/**
 * Publishes our own kinds as CustomResourceDefinitions, and brings those of an older program up to date. Only a
 * mark is applied, the rest is pinned: nobody owns what the server decides, so that others can apply theirs without conflict.
 */
export async function publishNativeKinds(api: ResourceApi, definitions: Iterable<ResourceDefinition>): Promise<void> {
  const crds = api.context.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (!crds) return;
  const caller: Caller = {
    user: loopbackUser,
    userAgent: 'capstan',
    signal: new AbortController().signal,
    warn: () => {},
  };
  const publish = async ({ crd }: ResourceDefinition): Promise<void> => {
    if (!crd) return;
    const { apiVersion, kind } = crd;
    const name = must(crd.metadata.name, 'metadata.name');
    if (isPublished(api, crds, crd)) return;
    await api.apply({
      target: { ...crds, namespace: undefined, name },
      subresource: undefined,
      body: { value: { apiVersion, kind, metadata: { name, annotations: marksOf(crd) } }, duplicateFields: [] },
      force: true,
      caller,
      settings,
    });
  };
  await Promise.all([...definitions].map(publish));
}
