import {
  asTyped,
  type Condition,
  clone,
  deepEqual,
  ignoreNotFound,
  must,
  type ResourceDefinition,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { StoreEvent } from '../../store/index.ts';
import { loopbackUser } from '../auth/index.ts';
import type { ServedResource } from '../registry/index.ts';
import { deleteObject } from '../service/delete.ts';
import type { ResourceApi } from '../service/resource-api.ts';
import type { Caller } from '../service/types.ts';
import { type NextState, updateObject } from '../service/update.ts';
import { keyPrefix, nameOfKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { type CrdDefinitionDependencies, definitionFromCrd } from './definition.ts';
import { evaluateCrdNames, mergeConditions } from './names.ts';
import { publishNativeKinds } from './native.ts';
import { type CustomResourceDefinition, cleanupFinalizer, isCrdConditionTrue } from './types.ts';

const manager = 'kube-apiserver';
const terminating: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'InstanceDeletionInProgress',
  message: 'CustomResource deletion is in progress',
};

export interface CrdLifecycleOptions extends CrdDefinitionDependencies {
  api: ResourceApi;
  /** built-in kinds by the name of their published CustomResourceDefinition */
  native: ReadonlyMap<string, ResourceDefinition>;
  onError(error: unknown, crdName: string): void;
}

/**
 * Serves the kinds of CustomResourceDefinitions. A definition is served in the same turn in which it becomes visible,
 * so clients can use it as soon as its creation is confirmed. The status follows afterwards.
 */
export class CrdLifecycle {
  readonly #options: CrdLifecycleOptions;
  readonly #crds: ServedResource;
  readonly #stopWatching: () => void;
  readonly #stop = new AbortController();
  readonly #caller: Caller;
  /** definitions whose cleanup waits until their last object is deleted */
  readonly #cleaning = new Map<string, () => void>();
  readonly #work = new Set<Promise<void>>();

  constructor(options: CrdLifecycleOptions) {
    this.#options = options;
    const { context } = options.api;
    const crds = context.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
    if (!crds) throw new Error('the CustomResourceDefinition kind is not registered');
    this.#crds = crds;
    this.#caller = { user: loopbackUser, userAgent: manager, signal: this.#stop.signal, warn: () => {} };
    const prefix = keyPrefix(crds.resource.keySpace);
    const present = context.store.list(prefix);
    for (const record of present.records) this.#serve(asCrd(record.value.object), record.revision);
    this.#stopWatching = context.store.watch(prefix, present.revision, (events) => this.#onEvents(events));
    for (const record of present.records) this.#later(asCrd(record.value.object));
  }

  /** Stops the watch and waits for running work. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#stopWatching();
    for (const stopWaiting of this.#cleaning.values()) stopWaiting();
    await Promise.allSettled(this.#work);
  }

  #onEvents(events: readonly StoreEvent<StoredObject>[]): void {
    for (const event of events) {
      if (event.type === 'delete') {
        const { metadata, spec } = asCrd(event.previous.value.object);
        const native = this.#options.native.get(metadata.name ?? '');
        if (native) this.#track(publishNativeKinds(this.#options.api, [native]), must(metadata.name, 'metadata.name'));
        else this.#options.api.context.registry.remove(spec.group, spec.names.plural);
        continue;
      }
      const crd = asCrd(event.record.value.object);
      this.#serve(crd, event.revision, event.previous && asCrd(event.previous.value.object));
      this.#later(crd);
    }
  }

  #serve(crd: CustomResourceDefinition, revision: number, previous?: CustomResourceDefinition): void {
    const { registry } = this.#options.api.context;
    const native = this.#options.native.get(crd.metadata.name ?? '');
    if (native) {
      if (!registry.get(native.group, native.plural)) registry.set(native);
      return;
    }
    const unchanged = previous && deepEqual(previous.spec, crd.spec) && deepEqual(previous.status, crd.status);
    if (unchanged) return;
    if (!isCrdConditionTrue(crd, 'Established') && !this.#evaluate(crd).established) return;
    try {
      const known = registry.get(crd.spec.group, crd.spec.names.plural);
      const sameSpec = known && previous && deepEqual(previous.spec, crd.spec);
      registry.set(definitionFromCrd(crd, this.#options), sameSpec ? known.schemaRevision : revision);
    } catch (error) {
      this.#options.onError(error, crd.metadata.name ?? '');
    }
  }

  #evaluate(crd: CustomResourceDefinition): ReturnType<typeof evaluateCrdNames> {
    const { store, clock } = this.#options.api.context;
    const others: CustomResourceDefinition[] = [];
    for (const record of store.list(keyPrefix(this.#crds.resource.keySpace)).records) {
      if (nameOfKey(record.key) !== crd.metadata.name) others.push(asCrd(record.value.object));
    }
    return evaluateCrdNames(crd, others, clock.now());
  }

  /** Runs outside the commit that triggered it. */
  #later(crd: CustomResourceDefinition): void {
    this.#track(this.#reconcile(crd), crd.metadata.name ?? '');
  }

  #track(pending: Promise<void>, name: string): void {
    const work = pending
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#options.onError(error, name);
      })
      .finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  async #reconcile(crd: CustomResourceDefinition): Promise<void> {
    if (crd.metadata.deletionTimestamp !== undefined) return this.#cleanUp(crd);
    const { acceptedNames, conditions } = this.#evaluate(crd);
    if (deepEqual(crd.status?.acceptedNames, acceptedNames) && deepEqual(crd.status?.conditions, conditions)) return;
    await this.#update(crd, 'status', (draft) => {
      draft.status = { ...draft.status, acceptedNames, conditions, storedVersions: draft.status?.storedVersions ?? [] };
    });
  }

  async #update(
    crd: CustomResourceDefinition,
    subresource: 'status' | undefined,
    change: (draft: CustomResourceDefinition) => void,
  ): Promise<void> {
    const { context } = this.#options.api;
    await updateObject({
      context,
      target: { ...this.#crds, namespace: undefined, name: must(crd.metadata.name, 'metadata.name') },
      subresource,
      caller: this.#caller,
      settings: { dryRun: false, fieldManager: manager, fieldValidation: 'Ignore' },
      next: (live): NextState => {
        const draft = clone(live);
        if (live.metadata.uid === crd.metadata.uid) change(asCrd(draft));
        return { draft, conditional: false };
      },
    }).catch(ignoreNotFound);
  }

  /**
   * Deletes all objects of the kind before the definition goes away. They are deleted like by any client, so finalizers
   * are respected.
   */
  async #cleanUp(crd: CustomResourceDefinition): Promise<void> {
    const name = must(crd.metadata.name, 'metadata.name');
    if (!crd.metadata.finalizers?.includes(cleanupFinalizer) || this.#cleaning.has(name)) return;
    const { context } = this.#options.api;
    if (!isCrdConditionTrue(crd, 'Terminating')) {
      // The condition blocks new objects. The event of this write triggers the cleanup.
      return this.#update(crd, 'status', (draft) => {
        const conditions = mergeConditions(draft.status?.conditions ?? [], [terminating], context.clock.now());
        draft.status = { ...draft.status, conditions };
      });
    }
    const { group, names, scope } = crd.spec;
    const resource = context.registry.get(group, names.plural);
    const prefix = keyPrefix({ group, plural: names.plural });
    const isEmpty = (): boolean => this.#options.native.has(name) || context.store.count(prefix) === 0;
    if (resource && !this.#options.native.has(name)) {
      const version = resource.definition.versions.find((candidate) => candidate.served) ?? resource.storageVersion;
      for (const record of context.store.list(prefix).records) {
        const namespace = scope === 'Namespaced' ? record.key.split('/')[3] : undefined;
        const target = {
          resource,
          version,
          apiVersion: resource.storageApiVersion,
          namespace,
          name: nameOfKey(record.key),
        };
        await deleteObject(context, target, this.#caller, { dryRun: false }).catch(ignoreNotFound);
      }
    }
    if (!isEmpty()) {
      await new Promise<void>((resolve) => {
        const stopWatching = context.store.watch(prefix, context.store.revision, () => {
          if (isEmpty()) done();
        });
        const done = (): void => {
          stopWatching();
          this.#cleaning.delete(name);
          resolve();
        };
        this.#cleaning.set(name, done);
        if (isEmpty()) done();
      });
    }
    if (this.#stop.signal.aborted) return;
    await this.#update(crd, undefined, (draft) => {
      const kept = (draft.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
      draft.metadata.finalizers = kept;
    });
  }
}

function asCrd(object: UnstructuredObject): CustomResourceDefinition {
  return asTyped<CustomResourceDefinition>(object);
}
