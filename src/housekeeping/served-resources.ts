import {
  type Informer,
  type InformerFactory,
  type InformerHandler,
  resourceId,
  sharedSignal,
} from '../client/index.ts';
import { formatApiVersion, type KubeObject, type Resource } from '../machinery/index.ts';

/** Kinds the API serves at the moment. They change with CustomResourceDefinitions. */
export interface ServedResources {
  /** one version of every kind that supports list, watch and delete */
  listResources(): readonly Resource[];
  /** calls back after the list changed; returns a function that unsubscribes */
  onChange(callback: () => void): () => void;
  /** group/versions whose discovery failed, each with the cause: "x.y/v1: stale GroupVersion discovery: x.y/v1" */
  failures?(): readonly string[];
}

/** Informers for every served kind. They start and stop as kinds appear and disappear. */
export interface DynamicInformers {
  /** true when every current informer has filled its cache */
  allSynced(): boolean;
  waitForSync(signal: AbortSignal): Promise<void>;
  stop(): void;
}

interface Followed {
  /** the same instance that is passed to the handler, which may compare by identity */
  resource: Resource<KubeObject>;
  informer: Informer<KubeObject>;
  /** nobody used this informer before, so it can be stopped afterwards */
  ours: boolean;
  removeHandler(): void;
}

/**
 * Adds a handler to the shared informer of every served kind except those `skip` excludes. `onChange` is called after
 * kinds appeared or disappeared.
 */
export function followAllKinds(options: {
  served: ServedResources;
  factory: InformerFactory;
  skip: (resource: Resource) => boolean;
  handlerFor: (resource: Resource<KubeObject>) => InformerHandler<KubeObject>;
  /** called when a kind, or the followed version of it, is no longer served; its objects may still exist */
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

/**
 * Reports whether the kind is an event. Events expire after an hour and own nothing, but would be the busiest watch.
 */
export function isEventKind(resource: Resource): boolean {
  return resource.kind === 'Event' && (resource.group === '' || resource.group === 'events.k8s.io');
}

/** Finds the served resource for a reference, whatever version it names. */
export function findServed(
  served: ServedResources,
  reference: { group: string; kind: string },
): Resource<KubeObject> | undefined {
  return served.listResources().find(({ group, kind }) => group === reference.group && kind === reference.kind) as
    | Resource<KubeObject>
    | undefined;
}

/** Formats a resource as kube-controller-manager does in messages: "/v1, Resource=pods". */
export function describeResource(resource: Resource): string {
  const apiVersion = formatApiVersion(resource.group, resource.version);
  return `${resource.group === '' ? `/${apiVersion}` : apiVersion}, Resource=${resource.plural}`;
}
