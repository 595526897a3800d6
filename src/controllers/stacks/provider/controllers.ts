import {
  type Image,
  Images,
  type OpenStackClusterStackRelease,
  OpenStackClusterStackReleases,
  type OpenStackNodeImageRelease,
  OpenStackNodeImageReleases,
  parseStackId,
} from '../../../api/index.ts';
import { errorWithHint, getCondition, type KubeObject } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import {
  draftOf,
  filterLabelOf,
  isDeleting,
  isFilteredOut,
  ownerReference,
  pausedBy,
  shows,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import { markFalse, markTrue, summarize } from '../conditions.ts';
import { defaultConcurrency, type StackDependencies } from '../dependencies.ts';
import { stackFieldManager } from '../names.ts';
import { SourcePendingError } from '../source/patience.ts';
import { imageFor, type NodeImage, nodeImagesOf } from './node-images.ts';

// Kinds of the cluster stack provider for OpenStack. Images of a release become ORC Images, which their controller
// imports.

const imagesReady = 'OpenStackNodeImageReleasesReady';
const imageReady = 'OpenStackImageReady';
const retryMs = 60_000;
const pendingRetryMs = 5_000;

/**
 * Builds the controller of OpenStackClusterStackReleases, which are ready once the cloud has all images of the release.
 */
export function openStackStackReleaseController(dependencies: StackDependencies): ControllerDefinition {
  return defineController({
    name: 'openstack-cluster-stack-release',
    for: OpenStackClusterStackReleases,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    watches: [
      watchObjects(OpenStackClusterStackReleases, { predicates: watchFilter(dependencies.watchFilter) }),
      watchOwned(OpenStackNodeImageReleases, OpenStackClusterStackReleases),
    ],
    async reconcile(context, key) {
      const live = context.cache.lister(OpenStackClusterStackReleases).get(key);
      if (!live || isDeleting(live) || isFilteredOut(live, dependencies.watchFilter)) return done();
      if (pausedBy(live, undefined).length > 0) return done();
      const draft = draftOf(live);
      const result = await keepImages(context, draft, dependencies);
      summarize(draft, [imagesReady], context.clock.now());
      await writeObject(context, OpenStackClusterStackReleases, live, draft, { observed: false });
      return result;
    },
  });
}

async function keepImages(
  context: ReconcileContext,
  draft: OpenStackClusterStackRelease,
  { catalog }: StackDependencies,
): Promise<Result> {
  const { clock, signal } = context;
  const id = parseStackId(draft.metadata.name ?? '');
  const fail = (severity: 'Error' | 'Info', message: string): void => {
    draft.status = { ...draft.status, ready: false };
    markFalse(draft, imagesReady, { reason: 'ProcessOngoing', severity, message }, clock.now());
  };
  if (id === undefined) {
    fail('Error', `${draft.metadata.name} is no id of a release`);
    return done();
  }
  let images: NodeImage[];
  try {
    images = nodeImagesOf(await catalog.release(id, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    // a release that was read once keeps its images
    const isPending = error instanceof SourcePendingError;
    const severity = isPending ? 'Info' : 'Error';
    const verdict = { reason: 'ProcessOngoing', severity, message: errorWithHint(error) } as const;
    markFalse(draft, imagesReady, verdict, clock.now());
    return after(isPending ? pendingRetryMs : retryMs, 'the release is looked for again');
  }
  const waiting: string[] = [];
  for (const image of images) if (!(await reconcileImage(context, draft, image))) waiting.push(image.name);
  if (waiting.length > 0) {
    fail('Info', `waits for OpenStackNodeImageRelease ${waiting.join(', ')}`);
    return done();
  }
  draft.status = { ...draft.status, ready: true };
  markTrue(draft, imagesReady, clock.now());
  return done();
}

/** Returns nothing without a label, because an empty map would differ from every existing object. */
function labelled(owner: KubeObject): { labels?: Record<string, string> } {
  const labels = filterLabelOf(owner);
  return Object.keys(labels).length === 0 ? {} : { labels };
}

/** Ensures the object of one image; returns whether it is ready. */
async function reconcileImage(
  { client, cache, signal }: ReconcileContext,
  owner: OpenStackClusterStackRelease,
  { name, image }: NodeImage,
): Promise<boolean> {
  const { namespace = '' } = owner.metadata;
  const desired: OpenStackNodeImageRelease = {
    apiVersion: 'infrastructure.clusterstack.x-k8s.io/v1alpha1',
    kind: 'OpenStackNodeImageRelease',
    metadata: {
      namespace,
      name,
      ...labelled(owner),
      ownerReferences: [ownerReference(owner, OpenStackClusterStackReleases, { controller: true })],
    },
    spec: { identityRef: owner.spec?.identityRef ?? { kind: 'Secret', name: 'openstack' }, image },
  };
  const live = cache.lister(OpenStackNodeImageReleases).get({ namespace, name });
  if (!live || !shows(live, desired)) {
    await client.apply(OpenStackNodeImageReleases, desired, { fieldManager: stackFieldManager, force: true, signal });
  }
  return live?.status?.ready === true;
}

/** Builds the controller of OpenStackNodeImageReleases, each of which owns an Image and is ready when that is. */
export function openStackNodeImageController(dependencies: StackDependencies): ControllerDefinition {
  return defineController({
    name: 'openstack-node-image-release',
    for: OpenStackNodeImageReleases,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    watches: [
      watchObjects(OpenStackNodeImageReleases, { predicates: watchFilter(dependencies.watchFilter) }),
      watchOwned(Images, OpenStackNodeImageReleases),
    ],
    async reconcile(context, key) {
      const live = context.cache.lister(OpenStackNodeImageReleases).get(key);
      if (!live || isDeleting(live) || isFilteredOut(live, dependencies.watchFilter)) return done();
      if (pausedBy(live, undefined).length > 0) return done();
      const draft = draftOf(live);
      await translate(context, draft);
      summarize(draft, [imageReady], context.clock.now());
      await writeObject(context, OpenStackNodeImageReleases, live, draft, { observed: false });
      return done();
    },
  });
}

async function translate(
  { client, cache, clock, signal }: ReconcileContext,
  draft: OpenStackNodeImageRelease,
): Promise<void> {
  const { namespace = '', name = '' } = draft.metadata;
  const fail = (severity: 'Error' | 'Info', message: string): void => {
    draft.status = { ...draft.status, ready: false };
    markFalse(draft, imageReady, { reason: 'OpenStackImageNotReady', severity, message }, clock.now());
  };
  if (draft.spec.identityRef.kind !== 'Secret') {
    fail('Error', `spec.identityRef.kind is ${draft.spec.identityRef.kind}, and can be Secret only`);
    return;
  }
  const desired: Image = {
    apiVersion: 'openstack.k-orc.cloud/v1alpha1',
    kind: 'Image',
    metadata: {
      namespace,
      name,
      ...labelled(draft),
      ownerReferences: [ownerReference(draft, OpenStackNodeImageReleases, { controller: true })],
    },
    spec: imageFor(draft.spec),
  };
  const live = cache.lister(Images).get({ namespace, name });
  if (!live || !shows(live, desired)) {
    try {
      await client.apply(Images, desired, { fieldManager: stackFieldManager, force: true, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      fail('Error', errorWithHint(error));
      return;
    }
  }
  const available = getCondition(live?.status?.conditions ?? [], 'Available');
  if (available?.status === 'True') {
    draft.status = { ...draft.status, ready: true };
    markTrue(draft, imageReady, clock.now());
    return;
  }
  const progress = getCondition(live?.status?.conditions ?? [], 'Progressing')?.message;
  fail('Info', `Image ${name} is not available${progress ? `: ${progress}` : ''}`);
}
