import { createInformerFactory, type Informer } from '../../client/index.ts';
import { type Clock, ignoreNotFound, type KubeObject, type Resource, systemRandom } from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';
import { noSuchCluster } from '../no-such-cluster.ts';
import { type ClusterObjects, clusterGroup, clusterSelector, referencesOf, servedKinds } from './cluster-objects.ts';
import { type ObjectReference, referenceKey, referenceOf } from './fields.ts';

/** Events come in bursts, so one update per burst is enough. */
const settleMs = 100;

/**
 * Watches a cluster and all objects of its tree. Passes on the objects once all are known and after every change.
 * Resolves when the cluster is gone or the signal aborts.
 */
export async function followCluster(
  { client, mapper, namespace }: Connection,
  name: string,
  options: { clock: Clock; signal: AbortSignal; onChange(found: ClusterObjects): void },
): Promise<'gone' | 'stopped'> {
  const { clock, onChange } = options;
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, options.signal]);
  const clusters = await mapper.forKind({ group: clusterGroup, kind: 'Cluster' }, { signal });
  if (!clusters) throw noSuchCluster(name, namespace);
  const factory = createInformerFactory({ client, clock, random: systemRandom, namespace });
  let cancel: (() => void) | undefined;
  let ended: (outcome: 'gone' | 'stopped' | Error) => void = () => {};
  const outcome = new Promise<'gone' | 'stopped' | Error>((resolve) => {
    ended = resolve;
  });
  options.signal.addEventListener('abort', () => ended('stopped'), { once: true });
  if (options.signal.aborted) ended('stopped');

  let isKnown = false;
  let shown = Promise.resolve();
  const note = (): void => {
    // A partial view would look like a cluster with lost objects.
    if (!isKnown) return;
    cancel ??= clock.after(settleMs, () => {
      cancel = undefined;
      shown = shown
        .then(show)
        .catch((error: unknown) => ended(error instanceof Error ? error : new Error(String(error))));
    });
  };
  const follow = (
    resource: Resource,
    scope: { labelSelector: string } | { fieldSelector: string },
  ): Informer<KubeObject> => {
    const informer = factory.informer<KubeObject>(resource, scope);
    informer.addHandler({ onAdd: note, onUpdate: note, onDelete: note });
    return informer;
  };
  const root = follow(clusters, { fieldSelector: `metadata.name=${name}` });
  const labelled = (await servedKinds(mapper, signal)).map((resource) =>
    follow(resource, { labelSelector: clusterSelector(name) }),
  );
  const referred = new Map<string, Informer<KubeObject>>();
  let seen = false;

  const show = async (): Promise<void> => {
    if (signal.aborted) return;
    const cluster = root.lister.get({ namespace, name });
    if (!cluster) return ended(seen ? 'gone' : noSuchCluster(name, namespace));
    seen = true;
    const objects = labelled.flatMap(({ lister }) => lister.list());
    // Cluster controllers label referenced objects; until then they are read one by one.
    const found: ClusterObjects = { cluster, objects: [...objects] };
    const missing: ObjectReference[] = [];
    const references = referencesOf(found);
    for (const { group, kind } of references) {
      const id = `${group}/${kind}`;
      if (referred.has(id)) continue;
      const resource = await mapper.forKind({ group, kind }, { signal });
      if (!resource) continue;
      const informer = follow(resource, { labelSelector: clusterSelector(name) });
      referred.set(id, informer);
      await informer.waitForSync(signal);
    }
    found.objects.push(...[...referred.values()].flatMap(({ lister }) => lister.list()));
    const known = new Set(found.objects.map((object) => referenceKey(referenceOf(object))));
    for (const reference of references.filter((one) => !known.has(referenceKey(one)))) {
      const resource = await mapper.forKind(reference, { signal });
      const key = { namespace, name: reference.name };
      const object = resource && (await client.get(resource, key, { signal }).catch(ignoreNotFound));
      if (object) found.objects.push(object);
      else missing.push(reference);
    }
    onChange({ ...found, missing });
  };

  const running = factory.run(signal);
  try {
    await Promise.race([factory.waitForSync(signal).catch(() => 'stopped'), outcome]);
    isKnown = true;
    note();
    const how = await outcome;
    if (how instanceof Error) throw how;
    return how;
  } finally {
    cancel?.();
    stop.abort();
    await running;
  }
}
