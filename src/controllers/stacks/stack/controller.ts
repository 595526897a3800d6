import {
  type Cluster,
  type ClusterStack,
  type ClusterStackRelease,
  ClusterStackReleases,
  ClusterStacks,
  Clusters,
  OpenStackClusterStackReleaseTemplates,
  parseStackId,
  releaseNameOf,
  type StackId,
  sameFamily,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { errorMessage, errorWithHint, isAlreadyExists, isNotFound, type KubeObject } from '../../../machinery/index.ts';
import {
  after,
  afterPatiently,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import {
  draftOf,
  isDeleting,
  isFilteredOut,
  isOf,
  isOwnedBy,
  ownerReference,
  pausedBy,
  watchFilter,
  withOwner,
  withoutOwner,
  writeObject,
} from '../../shared/index.ts';
import type { CatalogListing } from '../catalog.ts';
import { markFalse, markTrue, summarize } from '../conditions.ts';
import { defaultConcurrency, type StackDependencies } from '../dependencies.ts';
import { stackFieldManager } from '../names.ts';
import { SourcePendingError } from '../source/patience.ts';
import { stackUseOf } from '../uses.ts';
import { planStack } from './plan.ts';
import { keepProviderObject, type ProviderObjectReference, ProviderTemplateError } from './provider-object.ts';
import { summaryOf } from './status.ts';

const conditions = {
  assets: 'AssetsClientAPIAvailable',
  provider: 'ProviderClusterStackReleasesSynced',
  releases: 'ClusterStackReleasesSynced',
  synced: 'ReleasesSynced',
  available: 'ClusterStackReleaseAvailable',
} as const;

/** requeue interval, because provider templates are not watched */
const retryMs = 30_000;
/** retry delay while a source is still loading */
const pendingRetryMs = 10_000;

/**
 * Builds the controller of ClusterStacks, each of which keeps the ClusterStackReleases that are named, newest, ready or
 * in use.
 */
export function clusterStackController(dependencies: StackDependencies): ControllerDefinition {
  const { cache, catalog } = dependencies;
  /** tags reported as unreadable, by stack */
  const told = new Map<string, string>();

  const stacksOf = (cluster: Cluster): ObjectKey[] => {
    const use = stackUseOf(cluster);
    if (use === undefined) return [];
    return cache
      .lister(ClusterStacks)
      .list({ namespace: use.namespace, filter: ({ spec }) => sameFamily(spec, use.id) })
      .map(objectKey);
  };

  const stacksOfTemplate = ({ metadata: { namespace, name } }: KubeObject): ObjectKey[] =>
    cache
      .lister(ClusterStacks)
      .list({
        ...(namespace !== undefined && { namespace }),
        filter: ({ spec }) => spec.noProvider !== true && spec.providerRef?.name === name,
      })
      .map(objectKey);

  return defineController({
    name: 'cluster-stack',
    for: ClusterStacks,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(ClusterStackReleases);
      informers.informer(Clusters);
    },
    watches: [
      watchObjects(ClusterStacks, { predicates: watchFilter(dependencies.watchFilter) }),
      watchOwned(ClusterStackReleases, ClusterStacks, { anyOwner: true }),
      watchMapped(Clusters, stacksOf, { predicates: [changedBesidesStatus] }),
      watchMapped(OpenStackClusterStackReleaseTemplates, stacksOfTemplate),
    ],
    async reconcile(context, key) {
      const stack = context.cache.lister(ClusterStacks).get(key);
      // owned objects are garbage-collected
      if (!stack || isDeleting(stack) || isFilteredOut(stack, dependencies.watchFilter)) return done();
      if (pausedBy(stack, undefined).length > 0) return done();
      return await new StackReconcile(context, stack, catalog, told).run();
    },
  });
}

class StackReconcile {
  readonly #context: ReconcileContext;
  readonly #stack: ClusterStack;
  readonly #draft: ClusterStack;
  readonly #catalog: StackDependencies['catalog'];
  readonly #told: Map<string, string>;

  constructor(
    context: ReconcileContext,
    stack: ClusterStack,
    catalog: StackDependencies['catalog'],
    told: Map<string, string>,
  ) {
    this.#context = context;
    this.#stack = stack;
    this.#draft = draftOf(stack);
    this.#catalog = catalog;
    this.#told = told;
  }

  async run(): Promise<Result> {
    const { client: _, cache, clock } = this.#context;
    const { namespace = '' } = this.#stack.metadata;
    const isSubscribed = this.#stack.spec.autoSubscribe ?? true;
    const listing = isSubscribed ? await this.#list() : undefined;
    if (!isSubscribed) markTrue(this.#draft, conditions.assets, clock.now());
    const all = cache.lister(ClusterStackReleases).list({ namespace });
    const owned = all.filter((release) => isOwnedBy(release, this.#stack) && !isDeleting(release));
    const used = new Set(
      cache
        .lister(Clusters)
        .list()
        .flatMap((cluster) => stackUseOf(cluster) ?? [])
        .filter((use) => use.namespace === namespace)
        .map(({ release }) => release),
    );
    const plan = planStack(this.#stack, {
      offered: listing?.ids,
      owned: owned.flatMap(({ metadata, status }) => {
        const id = parseStackId(metadata.name ?? '');
        return id === undefined ? [] : [{ id, ready: status?.ready === true }];
      }),
      used,
    });
    const known = new Map(all.map((release) => [release.metadata.name ?? '', release]));
    const problems: string[] = [];
    for (const id of plan.wanted) {
      const problem = await this.#keep(id, known.get(releaseNameOf(id)));
      if (problem !== undefined) problems.push(`${releaseNameOf(id)}: ${problem}`);
    }
    for (const name of plan.unneeded) await this.#give(known.get(name));
    this.#say(plan.wanted, known, problems);
    await writeObject(this.#context, ClusterStacks, this.#stack, this.#draft, { observed: false });
    const { pollMs } = this.#catalog;
    const isPending = listing?.failures.some(({ error }) => error instanceof SourcePendingError) === true;
    if (isPending) return after(pendingRetryMs, 'releases are being listed');
    if (problems.length > 0) return after(retryMs, 'releases are kept');
    return isSubscribed && pollMs !== undefined ? afterPatiently(pollMs, 'new releases are looked for') : done();
  }

  async #list(): Promise<CatalogListing> {
    const { clock, signal } = this.#context;
    const listing = await this.#catalog.list(signal);
    const { failures } = listing;
    if (failures.length === 0) markTrue(this.#draft, conditions.assets, clock.now());
    else {
      const all = failures.map(({ source, error }) => `${source}: ${errorWithHint(error)}`).join('; ');
      const message = `releases cannot be listed: ${all}`;
      const verdict = { reason: 'FailedCreateAssetsClient', severity: 'Error', message } as const;
      markFalse(this.#draft, conditions.assets, verdict, clock.now());
    }
    this.#complain(listing.ignored);
    return listing;
  }

  /** Emits one event for unreadable tags of a source, again only when they change. */
  #complain(ignored: CatalogListing['ignored']): void {
    const { uid = '' } = this.#stack.metadata;
    const text = ignored.map(({ tag, source }) => `${tag} (${source})`).join(', ');
    if ((this.#told.get(uid) ?? '') === text) return;
    this.#told.set(uid, text);
    if (text === '') return;
    const shown = text.length > 800 ? `${text.slice(0, 800)}…` : text;
    this.#context.events.event(this.#stack, 'Warning', 'ReleaseTagIgnored', `no ids of releases: ${shown}`);
  }

  /** Ensures the provider object and then the release of an id; returns what prevents it. */
  async #keep(id: StackId, live: ClusterStackRelease | undefined): Promise<string | undefined> {
    const { client, signal, clock } = this.#context;
    const { spec, metadata } = this.#stack;
    let providerRef: ProviderObjectReference | undefined;
    if (spec.noProvider !== true) {
      try {
        providerRef = await keepProviderObject(this.#context, this.#stack, releaseNameOf(id));
      } catch (error) {
        if (!(error instanceof ProviderTemplateError)) throw error;
        const verdict = { reason: error.reason, severity: 'Error', message: error.message } as const;
        markFalse(this.#draft, conditions.provider, verdict, clock.now());
        return error.message;
      }
    }
    const owner = ownerReference(this.#stack, ClusterStacks);
    if (live === undefined) {
      try {
        const release: ClusterStackRelease = {
          apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
          kind: 'ClusterStackRelease',
          metadata: {
            name: releaseNameOf(id),
            ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
            ...(metadata.labels && { labels: metadata.labels }),
            ownerReferences: [owner],
          },
          spec: providerRef === undefined ? {} : { providerRef },
        };
        await client.create(ClusterStackReleases, release, { fieldManager: stackFieldManager, signal });
      } catch (error) {
        if (signal.aborted) throw error;
        // the cache was stale; the watch triggers a reconcile
        return isAlreadyExists(error) ? undefined : errorMessage(error);
      }
      return undefined;
    }
    if (isDeleting(live)) return 'an object of this name is still being deleted';
    const owners = withOwner(live.metadata.ownerReferences, owner);
    if (owners !== live.metadata.ownerReferences) {
      const draft = draftOf(live);
      draft.metadata.ownerReferences = [...owners];
      await writeObject(this.#context, ClusterStackReleases, live, draft, { observed: false });
    }
    return undefined;
  }

  /** Releases one that is not needed; another ClusterStack of the same family may still use it. */
  async #give(release: ClusterStackRelease | undefined): Promise<void> {
    if (release === undefined) return;
    const { client, signal } = this.#context;
    const others = withoutOwner(release.metadata.ownerReferences, ({ uid }) => uid === this.#stack.metadata.uid);
    if (others.some((owner) => isOf(owner, ClusterStacks))) {
      const draft = draftOf(release);
      draft.metadata.ownerReferences = [...others];
      await writeObject(this.#context, ClusterStackReleases, release, draft, { observed: false });
      return;
    }
    try {
      const { uid } = release.metadata;
      await client.delete(ClusterStackReleases, objectKey(release), {
        signal,
        ...(uid !== undefined && { preconditions: { uid } }),
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #say(wanted: readonly StackId[], known: ReadonlyMap<string, ClusterStackRelease>, problems: readonly string[]): void {
    const nowMs = this.#context.clock.now();
    const draft = this.#draft;
    const { summary, latestRelease, usableVersions } = summaryOf(wanted, known);
    const { latestRelease: _latest, usableVersions: _usable, ...rest } = draft.status ?? {};
    draft.status = {
      ...rest,
      ...(summary && { summary }),
      ...(latestRelease !== undefined && { latestRelease }),
      ...(usableVersions !== undefined && { usableVersions }),
    };
    const failed = (message: string) => ({ reason: 'FailedToCreateOrUpdate', severity: 'Error', message }) as const;
    if (problems.length > 0) {
      markFalse(draft, conditions.releases, failed(problems.join('; ')), nowMs);
      const message = 'not all releases are as desired';
      markFalse(draft, conditions.synced, { reason: 'FailedToSync', severity: 'Error', message }, nowMs);
    } else {
      markTrue(draft, conditions.releases, nowMs);
      markTrue(draft, conditions.synced, nowMs);
      if (this.#stack.spec.noProvider !== true) markTrue(draft, conditions.provider, nowMs);
    }
    if (latestRelease !== undefined) markTrue(draft, conditions.available, nowMs);
    else {
      const waiting = summary?.find(({ ready }) => !ready);
      const message =
        waiting === undefined
          ? 'no release is asked for: name one in spec.versions, or set spec.autoSubscribe'
          : `${waiting.name} is not ready${waiting.message ? `: ${waiting.message}` : ''}`;
      const verdict = { reason: 'NoReleaseReady', severity: 'Warning', message } as const;
      markFalse(draft, conditions.available, verdict, nowMs);
    }
    summarize(draft, Object.values(conditions), nowMs);
  }
}
