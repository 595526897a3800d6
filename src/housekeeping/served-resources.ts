import {
  type Informer,
  type InformerFactory,
  type InformerHandler,
  resourceId,
  sharedSignal,
} from '../client/index.ts';
import { formatApiVersion, type KubeObject, type Resource } from '../machinery/index.ts';

/** What the API serves at the moment. Kinds come and go with CustomResourceDefinitions. */
export interface ServedResources {
  /** one version of every kind that can be listed, watched and deleted */
  listResources(): readonly Resource[];
  /** calls back after the list changed; returns the function that ends it */
  onChange(callback: () => void): () => void;
  /** group/versions that should be there but cannot be described, each with the cause: "x.y/v1: stale GroupVersion discovery: x.y/v1" */
  failures?(): readonly string[];
}

/** Informers over everything served, following what comes and goes. */
export interface DynamicInformers {
  /** every informer of the moment has filled its cache */
  allSynced(): boolean;
  waitForSync(signal: AbortSignal): Promise<void>;
  stop(): void;
}

interface Followed {
  /** as handed to the handler, which may know it by identity */
  resource: Resource<KubeObject>;
  informer: Informer<KubeObject>;
  /** nobody had asked for this informer before us, so nobody misses it after us */
  ours: boolean;
  removeHandler(): void;
}

/**
 * Adds a handler to the shared informer of every served kind but those `skip` leaves out. `onChange` is called after
 * kinds came or went.
 */
export function followAllKinds(options: {
  served: ServedResources;
  factory: InformerFactory;
  skip: (resource: Resource) => boolean;
  handlerFor: (resource: Resource<KubeObject>) => InformerHandler<KubeObject>;
  /** a kind (or the version of it that was followed) is no longer served; this says nothing about its objects */
  onRemoved: (resource: Resource<KubeObject>) => void;
  onChange: () => void;
}): DynamicInformers {
  const { served, factory, skip } = options;
  const followed = new Map<string, Followed>();

  const update = (): void => {
    const wanted = new Map<string, Resource<KubeObject>>();
    for (const resource of served.listResources()) {
      if (!skip(resource)) wanted.set(resourceId(resource), resource);
    }
    for (const [id, { resource, informer, ours, removeHandler }] of followed) {
      if (wanted.has(id)) continue;
      followed.delete(id);
      removeHandler();
      if (ours) factory.forget(informer);
      options.onRemoved(resource);
    }
    for (const [id, resource] of wanted) {
      if (followed.has(id)) continue;
      const known = new Set(factory.informers());
      const informer = factory.informer(resource);
      const entry: Followed = { resource, informer, ours: !known.has(informer), removeHandler: () => {} };
      followed.set(id, entry);
      entry.removeHandler = informer.addHandler(options.handlerFor(resource));
    }
    options.onChange();
  };

  const unsubscribe = served.onChange(update);
  update();
  return {
    allSynced: () => [...followed.values()].every(({ informer }) => informer.hasSynced()),
    async waitForSync(signal) {
      sharedSignal(signal);
      await Promise.all([...followed.values()].map(({ informer }) => informer.waitForSync(signal)));
    },
    stop() {
      unsubscribe();
      for (const { removeHandler } of followed.values()) removeHandler();
      followed.clear();
    },
  };
}

/** Events live an hour and own nothing: following them would be the busiest watch of all for no use. */
export function isEventKind(resource: Resource): boolean {
  return resource.kind === 'Event' && (resource.group === '' || resource.group === 'events.k8s.io');
}

/** The served resource of a reference, whatever version it names. */
export function findServed(
  served: ServedResources,
  reference: { group: string; kind: string },
): Resource<KubeObject> | undefined {
  return served.listResources().find(({ group, kind }) => group === reference.group && kind === reference.kind) as
    | Resource<KubeObject>
    | undefined;
}

/** "/v1, Resource=pods": how kube-controller-manager names a resource in messages. */
export function describeResource(resource: Resource): string {
  const apiVersion = formatApiVersion(resource.group, resource.version);
  return `${resource.group === '' ? `/${apiVersion}` : apiVersion}, Resource=${resource.plural}`;
}
