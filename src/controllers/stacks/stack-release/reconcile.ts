import {
  type AppliedResource,
  type ClusterStackRelease,
  ClusterStackReleases,
  parseStackId,
} from '../../../api/index.ts';
import { errorWithHint, ignoreNotFound, isJsonObject, type UnstructuredObject } from '../../../machinery/index.ts';
import { after, afterPatiently, done, type ReconcileContext, type Result } from '../../../runtime/index.ts';
import { draftOf, isControlledBy, ownerReference, type Severity, withOwner, writeObject } from '../../shared/index.ts';
import { dropCondition, markFalse, markTrue, summarize } from '../conditions.ts';
import type { StackDependencies } from '../dependencies.ts';
import { digestAnnotation, stackFieldManager } from '../names.ts';
import {
  applyObject,
  deleteMarked,
  type ObjectTarget,
  type PlacedObject,
  resourceEntry,
  sameResource,
  synced,
} from '../objects/applied.ts';
import type { StackRelease } from '../release/release.ts';
import { StackReleaseError } from '../release/release-error.ts';
import { renderClass } from '../release/render-class.ts';
import { SourcePendingError } from '../source/patience.ts';
import { providerResource } from '../stack/provider-object.ts';
import { releaseConditions } from '../stack/status.ts';
import { isOfRelease } from './marks.ts';
import { pinProblem } from './pin.ts';

const retryMs = 60_000;
const applyAgainMs = 20_000;
const pendingRetryMs = 5_000;
const providerPollMs = 10_000;
/** comparison interval for kinds that are not watched */
const compareMs = 10 * 60_000;

/** Applies the ClusterClass of a release, or reports what prevents it. Existing objects stay. */
export async function reconcileRelease(
  context: ReconcileContext,
  live: ClusterStackRelease,
  dependencies: StackDependencies,
): Promise<Result> {
  const draft = draftOf(live);
  const result = await new ReleaseReconcile(context, draft, dependencies).run();
  summarize(draft, Object.values(releaseConditions), context.clock.now());
  await writeObject(context, ClusterStackReleases, live, draft, { observed: false });
  return result;
}

class ReleaseReconcile {
  readonly #context: ReconcileContext;
  readonly #draft: ClusterStackRelease;
  readonly #dependencies: StackDependencies;

  constructor(context: ReconcileContext, draft: ClusterStackRelease, dependencies: StackDependencies) {
    this.#context = context;
    this.#draft = draft;
    this.#dependencies = dependencies;
  }

  async run(): Promise<Result> {
    const release = await this.#assets();
    if ('kind' in release) return release;
    this.#draft.status = { ...this.#draft.status, kubernetesVersion: release.metadata.kubernetesVersion };
    const provider = await this.#provider();
    if (provider !== undefined) return provider;
    return await this.#apply(release);
  }

  #fail(type: string, reason: string, severity: Severity, message: string): void {
    markFalse(this.#draft, type, { reason, severity, message }, this.#context.clock.now());
  }

  async #assets(): Promise<StackRelease | Result> {
    const { signal, clock } = this.#context;
    const { downloaded } = releaseConditions;
    const name = this.#draft.metadata.name ?? '';
    const id = parseStackId(name);
    if (id === undefined) {
      const form = '<provider>-<name>-<major>-<minor>-v<number>';
      this.#fail(downloaded, 'IssueWithReleaseAssets', 'Error', `${name} is no id of a release; ids look like ${form}`);
      return done();
    }
    try {
      const release = await this.#dependencies.catalog.release(id, signal);
      const annotations = this.#draft.metadata.annotations ?? {};
      const problem = pinProblem(this.#draft, release);
      if (problem !== undefined) {
        this.#fail(downloaded, 'IssueWithReleaseAssets', 'Error', problem);
        return after(retryMs, 'the release is looked at again');
      }
      if (release.digest !== undefined) {
        this.#draft.metadata.annotations = { ...annotations, [digestAnnotation]: release.digest };
      }
      markTrue(this.#draft, downloaded, clock.now());
      return release;
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof SourcePendingError) {
        this.#fail(downloaded, 'ReleaseAssetsNotDownloadedYet', 'Info', errorWithHint(error));
        return after(pendingRetryMs, 'the release is being fetched');
      }
      if (error instanceof StackReleaseError) {
        this.#fail(downloaded, 'IssueWithReleaseAssets', 'Error', error.message);
      } else {
        this.#fail(downloaded, 'ReleaseAssetsNotDownloadedYet', 'Warning', errorWithHint(error));
      }
      return after(retryMs, 'the release is looked for again');
    }
  }

  /** Returns what the provider still has to do; undefined if nothing. */
  async #provider(): Promise<Result | undefined> {
    const { client, signal, clock } = this.#context;
    const { provider: type } = releaseConditions;
    const reference = this.#draft.spec?.providerRef;
    if (reference === undefined) {
      dropCondition(this.#draft, type);
      return undefined;
    }
    const { apiVersion = '', kind = '', name = '' } = reference;
    const { namespace = '' } = this.#draft.metadata;
    const resource = providerResource(apiVersion, kind);
    const object = await client.get(resource, { namespace, name }, { signal }).catch(ignoreNotFound);
    if (object === undefined) {
      this.#fail(type, 'ProcessOngoing', 'Info', `there is no ${kind} ${name}`);
      return after(providerPollMs, 'the object of the provider');
    }
    if (!isControlledBy(object, this.#draft)) {
      const owner = ownerReference(this.#draft, ClusterStackReleases, { controller: true });
      const owned = draftOf(object);
      owned.metadata.ownerReferences = [...withOwner(object.metadata.ownerReferences, owner)];
      await writeObject(this.#context, resource, object, owned, { observed: false });
    }
    const status = object['status'];
    if (isJsonObject(status) && status['ready'] === true) {
      markTrue(this.#draft, type, clock.now());
      return undefined;
    }
    this.#fail(type, 'ProcessOngoing', 'Info', `${kind} ${name} is not ready`);
    return after(providerPollMs, 'the object of the provider');
  }

  async #apply(release: StackRelease): Promise<Result> {
    const { client, signal, clock } = this.#context;
    const { applied: type } = releaseConditions;
    const { name = '', namespace = '' } = this.#draft.metadata;
    const target: ObjectTarget = { client, kinds: this.#dependencies.kinds, fieldManager: stackFieldManager, signal };
    let objects: readonly UnstructuredObject[];
    try {
      objects = renderClass(release, name, namespace);
    } catch (error) {
      if (!(error instanceof StackReleaseError)) throw error;
      this.#fail(type, 'FailedToApplyObjects', 'Error', error.message);
      return done();
    }
    const resources = await this.#write(target, objects);
    const before = this.#draft.status?.resources ?? [];
    const failed = resources.filter(({ status }) => status !== synced);
    const gone = before.filter((entry) => !resources.some((now) => sameResource(now, entry)));
    const isMarked = isOfRelease(name);
    const left: AppliedResource[] = [];
    for (const entry of failed.length > 0 ? [] : gone) {
      if (!(await deleteMarked(target, entry, isMarked))) left.push(entry);
    }
    this.#draft.status = { ...this.#draft.status, resources: [...resources, ...(failed.length > 0 ? gone : left)] };
    if (failed.length > 0) {
      const message = failed.map((entry) => `${entry.kind} ${entry.name}: ${entry.error}`).join('; ');
      this.#fail(type, 'FailedToApplyObjects', 'Error', message);
      return after(applyAgainMs, 'objects are applied again');
    }
    markTrue(this.#draft, type, clock.now());
    this.#draft.status.ready = true;
    return afterPatiently(compareMs, 'objects are compared with the release');
  }

  /** Dry-runs all objects first, so that a rejection is found before anything is written. */
  async #write(target: ObjectTarget, objects: readonly UnstructuredObject[]): Promise<AppliedResource[]> {
    const placed: PlacedObject[] = [];
    const attempt = async (object: UnstructuredObject, write: () => Promise<unknown>): Promise<AppliedResource> => {
      try {
        await write();
        return resourceEntry(object);
      } catch (error) {
        if (target.signal.aborted) throw error;
        return resourceEntry(object, error);
      }
    };
    const tried: AppliedResource[] = [];
    for (const desired of objects) {
      tried.push(
        await attempt(desired, async () => {
          const resource = await target.kinds.resourceOf(desired, target.signal);
          if (!resource.namespaced) throw new StackReleaseError('a release may bring objects of its namespace only');
          placed.push({ resource, desired });
          await applyObject(target, { resource, desired }, { dryRun: true });
        }),
      );
    }
    if (tried.some(({ status }) => status !== synced)) return tried;
    const written: AppliedResource[] = [];
    for (const one of placed) written.push(await attempt(one.desired, () => applyObject(target, one)));
    return written;
  }
}
