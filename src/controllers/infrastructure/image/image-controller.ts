import { Deployments, type Image, type ImageContent, type ImageResource, Images } from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { clone, errorMessage } from '../../../machinery/index.ts';
import type { Image as CloudImage } from '../../../openstack/index.ts';
import {
  after,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  objectMatches,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  conditionOf,
  isDeleting,
  isFilteredOut,
  pausedBy,
  watchFilter,
  withoutFinalizer,
  writeObject,
} from '../../shared/index.ts';
import { authenticationFailedReason } from '../common/conditions.ts';
import { defaultConcurrency, type InfrastructureDependencies } from '../common/dependencies.ts';
import { abandonAnnotation, heldBack, imageFinalizer } from '../common/names.ts';
import { attempt, CloudFault } from '../common/outcomes.ts';
import { ownerId } from '../common/ownership.ts';
import { pauseAfter } from '../common/pause.ts';
import { recordIntent } from '../common/record-intent.ts';
import { warnOfNews } from '../common/warn.ts';
import { indexByIdentity, rotationSource } from '../common/watches.ts';
import { checkedContent, unsupportedCompression } from './checked-content.ts';
import { correctImage, type ImageCloud, imageById, imageByMark, imagesByFilter, makeImage } from './cloud-image.ts';
import type { FetchContent } from './fetch-content.ts';
import { isOther, otherImageController } from './other-controller.ts';
import { type ImageState, isDownloading, observed, setDownloading, setState, upToDate } from './status.ts';
import { createTransfers } from './transfers.ts';

/** Poll interval while a cloud imports content. */
const pollMs = 10_000;
/** Poll interval while the image must be created by someone else. */
const lookMs = 60_000;
const firstRetryMs = 15_000;
const mostRetryMs = 30 * 60_000;

const identityOf = ({ spec: { cloudCredentialsRef } }: Image) => ({
  name: cloudCredentialsRef.secretName,
  cloudName: cloudCredentialsRef.cloudName,
});

/** State of one reconcile of an Image; `draft` is written at the end. */
interface ImageScope {
  readonly context: ReconcileContext;
  readonly draft: Image;
  /** as stored */
  base: Image;
  readonly cloud: ImageCloud;
}

interface Pass {
  readonly state: ImageState;
  readonly result: Result;
}

const waiting = (message: string, ms: number): Pass => ({
  state: { available: 'False', reason: 'Progressing', message },
  result: after(ms, message),
});

/**
 * Builds the controller of ORC Images, which finds or creates images in Glance, uploads their content and deletes them.
 */
export function imageController(
  dependencies: InfrastructureDependencies & { readonly fetchContent: FetchContent },
): ControllerDefinition {
  const { cache, fetchContent } = dependencies;
  const transfers = createTransfers();

  async function reconcile(context: ReconcileContext, key: ObjectKey): Promise<Result> {
    const cached = context.cache.lister(Images).get(key);
    if (!cached || isFilteredOut(cached, dependencies.watchFilter)) {
      transfers.cancel(key);
      return done();
    }
    if (pausedBy(cached, undefined).length > 0) return done();
    // two controllers would undo each other's work
    if (otherImageController(context.cache) !== undefined) return done();
    if (isDeleting(cached) && cached.metadata.finalizers?.includes(imageFinalizer) !== true) return done();
    const original = await recordIntent(context, Images, cached, imageFinalizer);
    const parts = { context, draft: clone(original), base: original };
    const { draft } = parts;
    let scope: ImageScope | undefined;
    try {
      const access = await dependencies.clouds.access(identityOf(original), key.namespace ?? '', {
        signal: context.signal,
        leaving: isDeleting(original),
      });
      const cloud: ImageCloud = { openstack: access.openstack, owner: ownerId(original), signal: context.signal };
      scope = { ...parts, cloud };
      const pass = isDeleting(original) ? await remove(scope) : await provide(scope);
      setState(draft, pass.state, context.clock.now());
      await save(scope);
      return pass.result;
    } catch (error) {
      if (!(error instanceof CloudFault)) throw error;
      const pause = giveUp(context, draft, error) ?? explainStop(context, original, draft, error);
      await save(scope ?? parts);
      if (!pause) throw error;
      return pause;
    }
  }

  function provide(scope: ImageScope): Promise<Pass> {
    const { spec } = scope.draft;
    if (spec.managementPolicy === 'unmanaged') return adopt(scope);
    return make(scope, spec.resource ?? {});
  }

  /** Imports an existing image. */
  async function adopt({ draft, cloud }: ImageScope): Promise<Pass> {
    const { id, filter } = draft.spec.import ?? {};
    const known = id ?? draft.status?.id;
    let found = known === undefined ? undefined : await imageById(cloud, known);
    if (!found && filter) {
      const matching = await imagesByFilter(cloud, filter);
      if (matching.length > 1) {
        observed(draft, undefined);
        const message = `spec.import.filter: ${matching.length} images match it; name more of what the one has`;
        return {
          state: { available: 'False', reason: 'InvalidConfiguration', message },
          result: after(lookMs, message),
        };
      }
      found = matching[0];
    }
    observed(draft, found);
    if (!found) return waiting('Waiting for OpenStack resource to be created externally', lookMs);
    return found.status === 'active'
      ? { state: upToDate, result: done() }
      : waiting(`Waiting for OpenStack resource to be ready: it is ${found.status}`, pollMs);
  }

  async function make(scope: ImageScope, resource: ImageResource): Promise<Pass> {
    const { draft, cloud } = scope;
    const { content } = resource;
    const compression = content && unsupportedCompression(content);
    if (!content || compression !== undefined) {
      const message =
        compression === undefined
          ? 'spec.resource.content is missing'
          : `spec.resource.content.download.decompress: ${compression} cannot be decompressed here; offer the image uncompressed or as gz`;
      return { state: { available: 'False', reason: 'InvalidConfiguration', message }, result: done() };
    }
    const recorded = draft.status?.id;
    let live = recorded === undefined ? undefined : await imageById(cloud, recorded);
    live ??= await imageByMark(cloud);
    if (!live) {
      // attempts with a lost image do not count for the next one
      const { downloadAttempts: _, ...status } = draft.status ?? {};
      draft.status = status;
      if (isDownloading(draft)) {
        const message = 'The image is gone from the cloud';
        setDownloading(draft, 'False', { reason: 'TransientError', message }, scope.context.clock.now());
      }
      live = await makeImage(cloud, draft, resource);
    }
    observed(draft, live);
    const pass = await fill(scope, content, live);
    if (live.status !== 'active' && live.status !== 'queued') return pass;
    const corrected = await correctImage(cloud, draft, resource, live);
    if (corrected.status === live.status) observed(draft, corrected);
    return pass;
  }

  /** Ensures that an image has its content. */
  async function fill(scope: ImageScope, content: ImageContent, live: CloudImage): Promise<Pass> {
    const { draft, context, cloud } = scope;
    const key = objectKey(draft);
    const uid = draft.metadata.uid ?? '';
    const now = context.clock.now();
    switch (live.status) {
      case 'active':
      case 'deactivated':
        transfers.cancel(key);
        setDownloading(draft, 'False', { reason: 'Success', message: 'Data saved' }, now);
        return live.status === 'active'
          ? { state: upToDate, result: done() }
          : waiting('The image is deactivated in the cloud; reactivate it', lookMs);
      case 'queued':
        if (transfers.isUnderWay(key, uid)) return waiting('Image content is being uploaded', lookMs);
        return await download(scope, content, live);
      case 'killed': {
        await attempt(`Image ${live.id} cannot be deleted`, 'TransientError', () =>
          cloud.openstack.image.images.delete(live.id, { signal: cloud.signal }),
        );
        observed(draft, undefined);
        return waiting('Glance could not save the content; the image is made again', firstRetryMs);
      }
      case 'pending_delete':
      case 'deleted':
        return waiting('The image is being deleted in the cloud', pollMs);
      default:
        return waiting('Glance is downloading image content', pollMs);
    }
  }

  /** Starts the next upload to an image without content, or reports why the last one failed. */
  async function download(scope: ImageScope, content: ImageContent, live: CloudImage): Promise<Pass> {
    const { draft, context, cloud } = scope;
    const key = objectKey(draft);
    const uid = draft.metadata.uid ?? '';
    const outcome = transfers.take(key, uid);
    // uploaded since the image was read
    if (outcome?.ok === true) return waiting('Resource status will be refreshed', 0);
    if (isDownloading(draft)) {
      const problem = outcome?.problem ?? (await importProblem(cloud, live.id));
      if (problem === undefined) return waiting('Glance is about to download image content', pollMs);
      setDownloading(draft, 'False', { reason: 'TransientError', message: problem }, context.clock.now());
    }
    const attempts = draft.status?.downloadAttempts ?? 0;
    const failed = attempts === 0 ? undefined : conditionOf(draft, 'Downloading');
    if (failed?.status === 'False') {
      const pauseMs = Math.min(mostRetryMs, firstRetryMs * 2 ** Math.min(20, attempts - 1));
      const leftMs = Date.parse(failed.lastTransitionTime) + pauseMs - context.clock.now();
      if (leftMs > 0) {
        const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
        const message = `The content cannot be had (${times}, the next one after ${pauseMs / 1000} s): ${failed.message}`;
        return { state: { available: 'False', reason: 'TransientError', message }, result: after(leftMs, message) };
      }
    }
    return await begin(scope, content, live, attempts + 1);
  }

  async function begin(scope: ImageScope, content: ImageContent, live: CloudImage, attempts: number): Promise<Pass> {
    const { draft, context, cloud } = scope;
    const { url, hash, decompress } = content.download;
    const { images } = cloud.openstack.image;
    const options = { signal: cloud.signal };
    // Glance does not check the hash of the source, so content that must be verified or decompressed passes through
    // this process
    const isForGlance =
      hash === undefined &&
      decompress === undefined &&
      (await attempt('Import methods cannot be read', 'TransientError', () => images.importMethods(options))).includes(
        'web-download',
      );
    const message = isForGlance ? 'Web download in progress' : 'Starting image upload';
    draft.status = { ...draft.status, downloadAttempts: attempts };
    setDownloading(draft, 'True', { reason: 'Progressing', message }, context.clock.now());
    // record the attempt before it starts, so that it counts even after a crash
    await save(scope);
    if (isForGlance) {
      await attempt(`Image ${live.id} cannot be imported`, 'TransientError', () =>
        images.webDownload(live.id, url, options),
      );
      return waiting('Waiting for OpenStack resource to be ready', pollMs);
    }
    transfers.start(objectKey(draft), draft.metadata.uid ?? '', (signal) =>
      images.upload(live.id, checkedContent(fetchContent(url, signal), content), { signal }),
    );
    return waiting('Image content is being uploaded', lookMs);
  }

  async function remove({ draft, cloud, context }: ImageScope): Promise<Pass> {
    transfers.cancel(objectKey(draft));
    const { managementPolicy, managedOptions } = draft.spec;
    const keeps = managementPolicy === 'unmanaged' || managedOptions?.onDelete === 'detach';
    const recorded = draft.status?.id;
    const live = keeps
      ? undefined
      : ((recorded === undefined ? undefined : await imageById(cloud, recorded)) ?? (await imageByMark(cloud)));
    if (live) {
      if (live.protected) {
        const message = `Image ${live.id} is protected in the cloud; set its protected to false, or spec.managedOptions.onDelete to detach`;
        return { state: { available: 'Unknown', reason: 'TransientError', message }, result: after(lookMs, message) };
      }
      await attempt(`Image ${live.id} cannot be deleted`, 'TransientError', () =>
        cloud.openstack.image.images.delete(live.id, { signal: context.signal }),
      );
    }
    draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, imageFinalizer);
    return { state: { available: 'False', reason: 'Progressing', message: 'Deleted' }, result: done() };
  }

  return defineController({
    name: 'image',
    for: Images,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    continuesAfterOwnWrite: 'everything',
    setup(factory) {
      indexByIdentity(factory, Images, identityOf);
    },
    watches: [
      watchObjects(Images, { predicates: [...watchFilter(dependencies.watchFilter), changedBesidesStatus] }),
      // the other controller was installed or removed
      watchMapped(Deployments, () => cache.lister(Images).list().map(objectKey), {
        predicates: [objectMatches(isOther), changedBesidesStatus],
      }),
    ],
    sources: [rotationSource(dependencies, Images), transfers.source],
    reconcile,
  });
}

/** Returns the cloud's reason for a failed import; undefined while it is running. */
async function importProblem({ openstack, signal }: ImageCloud, id: string): Promise<string | undefined> {
  try {
    const last = (await openstack.image.images.importTasks(id, { signal })).at(-1);
    if (last?.status === 'pending' || last?.status === 'processing') return undefined;
    return last?.message || 'the cloud does not say why; look at the log of its image service';
  } catch (error) {
    if (signal.aborted) throw error;
    return `the cloud does not say why (${errorMessage(error)})`;
  }
}

/** Writes the draft during a reconcile. */
async function save(pass: Pick<ImageScope, 'context' | 'draft'> & { base: Image }): Promise<void> {
  const stored = await writeObject(pass.context, Images, pass.base, pass.draft, { observed: false });
  pass.base = { ...clone(pass.draft), metadata: stored.metadata };
}

/** Lets an object with an unreachable cloud go if the user abandons its resources. */
function giveUp({ events }: ReconcileContext, draft: Image, { reason }: CloudFault): Result | undefined {
  if (reason !== authenticationFailedReason || !isDeleting(draft)) return undefined;
  const { managementPolicy, managedOptions } = draft.spec;
  const keeps = managementPolicy === 'unmanaged' || managedOptions?.onDelete === 'detach';
  if (!keeps && draft.metadata.annotations?.[abandonAnnotation] !== 'true') return undefined;
  if (!keeps) {
    const what = draft.status?.id ?? 'no image is recorded';
    events.event(draft, 'Warning', 'AbandonedCloudResources', `Left in the cloud: ${what}`);
  }
  draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, imageFinalizer);
  return done();
}

function explainStop(context: ReconcileContext, original: Image, draft: Image, fault: CloudFault): Result | undefined {
  const isOut = fault.reason === authenticationFailedReason;
  const message = isOut && isDeleting(draft) ? heldBack(fault.message) : fault.message;
  warnOfNews(context, original, 'Available', { reason: 'TransientError', message });
  const before = conditionOf(original, 'Available')?.status;
  // an image that was available is assumed to exist
  const available = before === 'True' || before === 'Unknown' ? 'Unknown' : 'False';
  setState(draft, { available, reason: 'TransientError', message }, context.clock.now());
  return pauseAfter(fault, context.random);
}
