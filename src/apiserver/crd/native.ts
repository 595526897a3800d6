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

/**
 * Explains to users why a definition cannot be changed. Owning this annotation also keeps the owner of the other fields
 * from being guessed.
 */
export const builtInAnnotation = 'capstan.dev/built-in';
const annotations = { [builtInAnnotation]: 'true' };

/**
 * Definitions in protected groups need an approval annotation. Built-in ones are not the community's definitions, so
 * they declare themselves unapproved.
 */
function marksOf({ spec }: NonNullable<ResourceDefinition['crd']>): Record<string, string> {
  const { group = '' } = spec as { group?: string };
  return isProtectedGroup(group)
    ? { ...annotations, [approvalAnnotation]: 'unapproved, built into the server' }
    : annotations;
}

/** Built-in kinds by the name of their published CustomResourceDefinition. */
export type NativeKinds = ReadonlyMap<string, ResourceDefinition>;

/**
 * Protects the definitions of built-in kinds from changes. Manifests of other programs bring their own definitions of
 * these kinds, with other versions and a conversion webhook. Applying them must not fail, and must not change what the
 * server publishes. Writers may change metadata except our labels.
 */
export class NativeDefinitions {
  readonly #native: NativeKinds;
  /** expected definitions by name, with defaults; built lazily because the program fills `native` later */
  readonly #wanted = new Map<string, CustomResourceDefinition>();
  /** drafts that requested something different */
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
 * Allows to delete the definition of a built-in kind only while it has no objects, and recreates it at once.
 * Uninstalling other programs by their manifests must neither delete clusters nor fail when nothing would be lost.
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

/** Tells whether the stored definition is current. Writing it again would cost a validation at every start. */
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
 * Publishes our own kinds as CustomResourceDefinitions and updates those of older program versions. Only the annotation
 * is applied; the server enforces the rest. So nobody owns the enforced fields, and other programs can apply their
 * definitions without conflict.
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
