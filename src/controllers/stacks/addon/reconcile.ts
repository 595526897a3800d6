import {
  type AppliedResource,
  type Cluster,
  type ClusterAddon,
  ClusterAddons,
  ClusterStackReleases,
  classNameOf,
  parseStackId,
} from '../../../api/index.ts';
import { type Client, objectKey } from '../../../client/index.ts';
import { errorMessage, errorWithHint, type UnstructuredObject } from '../../../machinery/index.ts';
import { after, afterPatiently, done, type ReconcileContext, type Result } from '../../../runtime/index.ts';
import {
  type AppliedObject,
  createServedKinds,
  type DriftWatch,
  draftOf,
  type Follower,
  isNotConnected,
  type Repairs,
  type ServedKinds,
  type Severity,
  UnservedKindError,
  writeObject,
} from '../../shared/index.ts';
import { conditionOf, dropCondition, markFalse, markTrue, summarize } from '../conditions.ts';
import type { StackDependencies } from '../dependencies.ts';
import { stackFieldManager } from '../names.ts';
import { deleteMarked, type ObjectTarget, resourceEntry, sameResource, synced } from '../objects/applied.ts';
import { type Stage, type StageHook, stageHooks } from '../release/addon-config.ts';
import type { StackRelease } from '../release/release.ts';
import { StackReleaseError } from '../release/release-error.ts';
import { SourcePendingError } from '../source/patience.ts';
import { pinProblem } from '../stack-release/pin.ts';
import type { StackUse } from '../uses.ts';
import { addonConditions } from './conditions.ts';
import { addonStageAnnotation, runningClassAnnotation, servedHook, servedHookAnnotation } from './names.ts';
import { chartOf, renderStage, restingStages, stagesOf } from './render-stage.ts';
import { elapsedMs, forgetStart, lateness, noteStart } from './stage-clock.ts';
import { askCondition } from './stage-condition.ts';
import { applyStage, isOurs, placed } from './stage-objects.ts';
import { readValueObjects, type ValueObjects } from './stage-values.ts';

export interface AddonTools extends StackDependencies {
  readonly drift: DriftWatch;
  readonly repairs: Repairs;
  readonly contracts: Pick<Follower, 'kindOf'>;
  /** by client, so that a new connection reads them again */
  readonly workloadKinds: WeakMap<Client, ServedKinds>;
}

interface AddonScope {
  readonly cluster: Cluster;
  readonly addon: ClusterAddon;
  readonly use: StackUse;
}

const retryMs = 20_000;
const soonMs = 1_000;
const longestWaitMs = 60_000;
const downloadRetryMs = 60_000;
/** retry delay while a source is still loading */
const pendingRetryMs = 5_000;
/** comparison interval if not everything is watched */
const compareMs = 10 * 60_000;
const driftSource = 'cluster-addon';

/** Runs one reconcile of the add-ons. */
export async function reconcileAddons(
  context: ReconcileContext,
  scope: AddonScope,
  tools: AddonTools,
): Promise<Result> {
  const draft = draftOf(scope.addon);
  const result = await new AddonReconcile(context, scope, draft, tools).run();
  summarize(draft, Object.values(addonConditions), context.clock.now());
  await writeObject(context, ClusterAddons, scope.addon, draft, { observed: false });
  return result;
}

class AddonReconcile {
  readonly #context: ReconcileContext;
  readonly #cluster: Cluster;
  readonly #use: StackUse;
  readonly #draft: ClusterAddon;
  readonly #tools: AddonTools;

  constructor(context: ReconcileContext, { cluster, use }: AddonScope, draft: ClusterAddon, tools: AddonTools) {
    this.#context = context;
    this.#cluster = cluster;
    this.#use = use;
    this.#draft = draft;
    this.#tools = tools;
  }

  async run(): Promise<Result> {
    const client = this.#connect();
    if (client === undefined) return done();
    const release = await this.#release();
    if ('kind' in release) return release;
    const hook = await this.#hook(release);
    if (hook !== undefined && 'kind' in hook) return hook;
    const target = this.#target(client);
    return hook === undefined ? await this.#compare(target, release) : await this.#serve(target, release, hook.name);
  }

  #fail(type: string, reason: string, severity: Severity, message: string): void {
    markFalse(this.#draft, type, { reason, severity, message }, this.#context.clock.now());
  }

  #pass(type: string): void {
    markTrue(this.#draft, type, this.#context.clock.now());
  }

  #connect(): Client | undefined {
    try {
      const client = this.#tools.workloads.client(objectKey(this.#cluster));
      this.#pass(addonConditions.cluster);
      return client;
    } catch (error) {
      if (!isNotConnected(error)) throw error;
      this.#fail(addonConditions.cluster, 'ControlPlaneNotReady', 'Info', errorMessage(error));
      return undefined;
    }
  }

  #target(client: Client): ObjectTarget {
    const { workloadKinds } = this.#tools;
    const kinds = workloadKinds.get(client) ?? createServedKinds(client);
    workloadKinds.set(client, kinds);
    return { client, kinds, fieldManager: stackFieldManager, signal: this.#context.signal };
  }

  async #release(): Promise<StackRelease | Result> {
    const { signal } = this.#context;
    try {
      const release = await this.#tools.catalog.release(this.#use.id, signal);
      const { namespace, release: name } = this.#use;
      const owner = this.#context.cache.lister(ClusterStackReleases).get({ namespace, name });
      const problem = owner && pinProblem(owner, release);
      if (problem !== undefined) {
        this.#fail(addonConditions.release, 'IssueWithReleaseAssets', 'Error', problem);
        return after(downloadRetryMs, 'the release is looked at again');
      }
      this.#pass(addonConditions.release);
      this.#pass(addonConditions.config);
      return release;
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof SourcePendingError) {
        this.#fail(addonConditions.release, 'ReleaseAssetsNotDownloadedYet', 'Info', errorWithHint(error));
        return after(pendingRetryMs, 'the release is being fetched');
      }
      const isBroken = error instanceof StackReleaseError;
      const reason = isBroken ? 'IssueWithReleaseAssets' : 'ReleaseAssetsNotDownloadedYet';
      this.#fail(addonConditions.release, reason, isBroken ? 'Error' : 'Warning', errorWithHint(error));
      return after(downloadRetryMs, 'the release is looked for again');
    }
  }

  /** Returns the hook whose stages must run; undefined if none. */
  async #hook(release: StackRelease): Promise<{ name: StageHook } | Result | undefined> {
    const { spec } = this.#draft;
    const name = classNameOf(release.id);
    if (spec.hook) {
      const known = stageHooks.find((hook) => hook === spec.hook);
      if (known !== undefined) {
        this.#pass(addonConditions.hook);
        return { name: known };
      }
      spec.hook = '';
    }
    if (!spec.clusterStack) {
      if (this.#cluster.status?.initialization?.controlPlaneInitialized !== true) {
        this.#fail(addonConditions.hook, 'WaitingForHook', 'Info', 'the control plane is not initialized yet');
        return done();
      }
      this.#pass(addonConditions.hook);
      return { name: 'AfterControlPlaneInitialized' };
    }
    if (spec.clusterStack === name) {
      this.#pass(addonConditions.hook);
      return undefined;
    }
    const installed = parseStackId(spec.clusterStack);
    const old = installed && (await this.#quietly(() => this.#tools.catalog.release(installed, this.#context.signal)));
    if (old && old.metadata.kubernetesVersion !== release.metadata.kubernetesVersion) {
      const message = `waits until the upgrade from ${spec.clusterStack} to ${name} begins`;
      this.#fail(addonConditions.hook, 'WaitingForHook', 'Info', message);
      return done();
    }
    this.#pass(addonConditions.hook);
    // no upgrade hook is called if the Kubernetes version stays the same
    if (old && spec.version === release.metadata.addonVersion) {
      spec.clusterStack = name;
      return undefined;
    }
    return { name: 'BeforeClusterUpgrade' };
  }

  async #quietly<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (this.#context.signal.aborted) throw error;
      return undefined;
    }
  }

  /** Runs the stages of a hook, starting from the recorded stage. */
  async #serve(target: ObjectTarget, release: StackRelease, hook: StageHook): Promise<Result> {
    const { spec } = this.#draft;
    const stages = stagesOf(release, hook);
    spec.hook = hook;
    this.#begin(release, stages);
    this.#tools.drift.keepOnly(objectKey(this.#cluster), new Set());
    const missing = stages.find((stage) => chartOf(release, stage) === undefined);
    if (missing) {
      const message = `clusteraddon.yaml names the stage ${missing.name} for ${hook}, but the release has no such chart`;
      this.#fail(addonConditions.chartFound, 'HelmChartMissing', 'Error', message);
      return after(downloadRetryMs, 'a chart of the release is missing');
    }
    this.#pass(addonConditions.chartFound);
    const objects = await this.#objects(target);
    const rendered = new Map<Stage, readonly UnstructuredObject[]>();
    for (const stage of stages) {
      const made = await this.#render(release, stage, objects);
      if ('kind' in made) return made;
      rendered.set(stage, made.objects);
    }
    this.#pass(addonConditions.rendered);
    for (const stage of stages) {
      const waiting = await this.#stage(target, stage, rendered.get(stage) ?? []);
      if (waiting) return waiting;
    }
    return await this.#finish(target, release, hook, rendered);
  }

  /** Continues where the stages of this release were left, or begins with the first. */
  #begin(release: StackRelease, stages: readonly Stage[]): void {
    const { status, metadata } = this.#draft;
    const known = status?.stages ?? [];
    const name = classNameOf(release.id);
    const isSame =
      (metadata.annotations?.[runningClassAnnotation] ?? name) === name &&
      known.length === stages.length &&
      stages.every(({ name, action }, i) => known[i]?.name === name && known[i]?.action === action);
    metadata.annotations = { ...metadata.annotations, [runningClassAnnotation]: name };
    if (isSame && status?.ready !== true) return;
    this.#draft.status = {
      ...status,
      ready: false,
      stages: stages.map(({ name, action }) => ({ name, action, phase: 'Pending' })),
    };
    dropCondition(this.#draft, addonConditions.applied);
    forgetStart(this.#draft);
  }

  async #objects({ signal }: ObjectTarget): Promise<ValueObjects> {
    const { kinds, contracts } = this.#tools;
    return await readValueObjects({ client: this.#context.client, kinds, contracts, signal }, this.#cluster);
  }

  async #render(
    release: StackRelease,
    stage: Stage,
    objects: ValueObjects,
  ): Promise<{ objects: readonly UnstructuredObject[] } | Result> {
    const { signal } = this.#context;
    try {
      return { objects: await renderStage(this.#tools.catalog, release, stage, { objects, signal }) };
    } catch (error) {
      if (signal.aborted) throw error;
      const message = `stage ${stage.name}: ${errorWithHint(error)}`;
      if (error instanceof SourcePendingError) {
        this.#fail(addonConditions.rendered, 'TemplateNewClusterStackFailed', 'Info', message);
        return after(pendingRetryMs, 'a chart is being fetched');
      }
      this.#fail(addonConditions.rendered, 'TemplateNewClusterStackFailed', 'Error', message);
      return after(downloadRetryMs, 'a chart is rendered again');
    }
  }

  /** Runs one stage as far as possible; undefined when it is done. */
  async #stage(
    target: ObjectTarget,
    stage: Stage,
    objects: readonly UnstructuredObject[],
  ): Promise<Result | undefined> {
    const entry = this.#draft.status?.stages?.find(
      ({ name, action }) => name === stage.name && action === stage.action,
    );
    if (!entry || entry.phase === 'done') return undefined;
    noteStart(this.#draft, stage.name, this.#context.clock.now());
    if (entry.phase === 'Pending' || entry.phase === 'waitingForPreCondition') {
      if (stage.before) {
        entry.phase = 'waitingForPreCondition';
        const answer = await askCondition(target, stage.before);
        if (!answer.holds) return this.#wait(stage, 'FailedToEvaluatePreCondition', answer);
      }
      entry.phase = 'applyingOrDeleting';
    }
    if (entry.phase === 'applyingOrDeleting') {
      const made =
        stage.action === 'apply'
          ? await this.#apply(target, stage, objects)
          : await this.#delete(target, stage, objects);
      if (made && 'kind' in made) return made;
      entry.phase = 'waitingForPostCondition';
    }
    if (stage.after) {
      const answer = await askCondition(target, stage.after);
      if (!answer.holds) return this.#wait(stage, 'FailedToEvaluatePostCondition', answer);
    }
    dropCondition(this.#draft, addonConditions.evaluated);
    entry.phase = 'done';
    forgetStart(this.#draft);
    return undefined;
  }

  #wait(stage: Stage, reason: string, { why, isBroken }: { why: string; isBroken: boolean }): Result {
    const late = this.#lateness(stage);
    const message = `stage ${stage.name} waits: ${why}${late ?? ''}`;
    this.#fail(addonConditions.evaluated, reason, isBroken || late ? 'Error' : 'Info', message);
    // poll soon at first, and less often the longer it takes
    const waitMs = Math.min(
      longestWaitMs,
      Math.max(soonMs, (elapsedMs(this.#draft, stage.name, this.#context.clock.now()) ?? 0) / 4),
    );
    return after(waitMs, 'a condition of a stage');
  }

  /** Applies the objects of a stage; returns them, or that some have to be applied again. */
  async #apply(
    target: ObjectTarget,
    stage: Stage,
    objects: readonly UnstructuredObject[],
  ): Promise<{ applied: readonly AppliedObject[] } | Result> {
    const { entries, applied } = await applyStage(target, objects);
    this.#record(entries);
    const failed = entries.filter(({ status }) => status !== synced);
    if (failed.length === 0) {
      if (conditionOf(this.#draft, addonConditions.applied)?.status === 'False') {
        dropCondition(this.#draft, addonConditions.applied);
      }
      return { applied };
    }
    const shown = failed.slice(0, 3).map(({ kind, name, error }) => `${kind} ${name}: ${error}`);
    const more = failed.length > shown.length ? ` and ${failed.length - shown.length} more` : '';
    const late = this.#lateness(stage);
    const message = `stage ${stage.name}: ${shown.join('; ')}${more}${late ?? ''}`;
    this.#fail(addonConditions.applied, 'FailedToApplyObjects', late ? 'Error' : 'Warning', message);
    return after(retryMs, 'objects are applied again');
  }

  async #delete(
    target: ObjectTarget,
    stage: Stage,
    objects: readonly UnstructuredObject[],
  ): Promise<Result | undefined> {
    const left: string[] = [];
    for (const object of objects) {
      const desired = await this.#servedForm(target, object);
      if (desired === undefined) continue;
      const entry = resourceEntry(desired);
      if (!(await deleteMarked(target, entry, isOurs))) left.push(`${entry.kind} ${entry.name}`);
      else this.#forget(entry);
    }
    if (left.length === 0) {
      dropCondition(this.#draft, addonConditions.deleted);
      return undefined;
    }
    const late = this.#lateness(stage);
    const message = `stage ${stage.name} waits until these are gone: ${left.join(', ')}${late ?? ''}`;
    this.#fail(addonConditions.deleted, 'FailedToDeleteObjects', late ? 'Error' : 'Info', message);
    return after(retryMs, 'objects are going');
  }

  /** Returns an object with its namespace; undefined if the cluster does not serve its kind, so that it has none. */
  async #servedForm(target: ObjectTarget, object: UnstructuredObject): Promise<UnstructuredObject | undefined> {
    try {
      return (await placed(target, object)).desired;
    } catch (error) {
      if (error instanceof UnservedKindError) return undefined;
      throw error;
    }
  }

  /** Adds applied objects to the inventory after each stage, so that a crash loses none. */
  #record(results: readonly AppliedResource[]): void {
    const before = (this.#draft.status?.resources ?? []).filter(
      (entry) => !results.some((now) => sameResource(now, entry)),
    );
    this.#draft.status = { ...this.#draft.status, resources: [...before, ...results] };
  }

  #forget(entry: AppliedResource): void {
    const { status } = this.#draft;
    const resources = (status?.resources ?? []).filter((known) => !sameResource(known, entry));
    this.#draft.status = { ...status, resources };
  }

  /** Runs after all stages: deletes what only the previous release had, and records the installed release. */
  async #finish(
    target: ObjectTarget,
    release: StackRelease,
    hook: StageHook,
    rendered: ReadonlyMap<Stage, readonly UnstructuredObject[]>,
  ): Promise<Result> {
    const { spec, metadata } = this.#draft;
    const name = classNameOf(release.id);
    const isFirst = !spec.clusterStack;
    const resting = restingStages(release, { isUpgraded: !isFirst, isUpgradeOver: hook === 'AfterClusterUpgrade' });
    const objects = await this.#renderAll(release, resting, { target, known: rendered });
    if ('kind' in objects) return objects;
    // an object may have changed since its stage was done
    const applied = await this.#applyAll(target, objects);
    if ('kind' in applied) return applied;
    // stages after an upgrade add to what the upgrade applied
    if (hook !== 'AfterClusterUpgrade') {
      const later = stagesOf(release, 'AfterClusterUpgrade').filter(({ action }) => !isFirst && action === 'apply');
      const kept = await this.#renderAll(release, later, { target, known: objects });
      if ('kind' in kept) return kept;
      const left = await this.#deleteOthers(target, [...objects.values(), ...kept.values()].flat());
      if (left) return left;
    }
    spec.clusterStack = name;
    spec.version = release.metadata.addonVersion;
    spec.hook = '';
    const { [runningClassAnnotation]: _, ...annotations } = metadata.annotations ?? {};
    metadata.annotations = {
      ...annotations,
      [addonStageAnnotation]: isFirst ? 'created' : 'upgraded',
      [servedHookAnnotation]: servedHook(hook, name),
    };
    forgetStart(this.#draft);
    this.#draft.status = { ...this.#draft.status, stages: [], ready: true };
    this.#pass(addonConditions.applied);
    return this.#follow(target, applied.applied);
  }

  /** Deletes recorded objects that are not among these; undefined when they are gone. */
  async #deleteOthers(target: ObjectTarget, objects: readonly UnstructuredObject[]): Promise<Result | undefined> {
    const kept: AppliedResource[] = [];
    for (const object of objects) {
      const desired = await this.#servedForm(target, object);
      if (desired) kept.push(resourceEntry(desired));
    }
    const left: string[] = [];
    for (const known of this.#draft.status?.resources ?? []) {
      if (kept.some((entry) => sameResource(entry, known))) continue;
      if (await deleteMarked(target, known, isOurs)) this.#forget(known);
      else left.push(`${known.kind} ${known.name}`);
    }
    if (left.length === 0) {
      dropCondition(this.#draft, addonConditions.deleted);
      return undefined;
    }
    const message = `waits until objects of the release before are gone: ${left.join(', ')}`;
    this.#fail(addonConditions.deleted, 'FailedToDeleteObjects', 'Info', message);
    return after(retryMs, 'objects of the release before are going');
  }

  /** Corrects drift of applied objects between upgrades. */
  async #compare(target: ObjectTarget, release: StackRelease): Promise<Result> {
    const { drift, repairs } = this.#tools;
    const { clock } = this.#context;
    const key = objectKey(this.#cluster);
    if (this.#draft.status?.ready === true && drift.isSettled(key, target.client, driftSource)) {
      return drift.isPartial(key) ? afterPatiently(compareMs, 'add-ons are compared') : done();
    }
    const isRepair = drift.isFollowed(key, target.client, driftSource);
    const waitMs = isRepair ? repairs.waitFor(key, driftSource, clock.now()) : 0;
    if (waitMs > 0) return after(waitMs, 'add-ons are repaired');
    const annotations = this.#draft.metadata.annotations ?? {};
    const stages = restingStages(release, {
      isUpgraded: annotations[addonStageAnnotation] === 'upgraded',
      isUpgradeOver: annotations[servedHookAnnotation] === servedHook('AfterClusterUpgrade', classNameOf(release.id)),
    });
    const objects = await this.#renderAll(release, stages, { target, known: new Map() });
    if ('kind' in objects) return objects;
    const applied = await this.#applyAll(target, objects);
    if ('kind' in applied) return applied;
    if (isRepair) repairs.note(key, driftSource, clock.now());
    this.#pass(addonConditions.rendered);
    this.#pass(addonConditions.applied);
    this.#draft.status = { ...this.#draft.status, ready: true };
    return this.#follow(target, applied.applied);
  }

  async #renderAll(
    release: StackRelease,
    stages: readonly Stage[],
    { target, known }: { target: ObjectTarget; known: ReadonlyMap<Stage, readonly UnstructuredObject[]> },
  ): Promise<ReadonlyMap<Stage, readonly UnstructuredObject[]> | Result> {
    const result = new Map<Stage, readonly UnstructuredObject[]>();
    let values: ValueObjects | undefined;
    for (const stage of stages) {
      const rendered = known.get(stage);
      if (rendered) {
        result.set(stage, rendered);
        continue;
      }
      values ??= await this.#objects(target);
      const made = await this.#render(release, stage, values);
      if ('kind' in made) return made;
      result.set(stage, made.objects);
    }
    return result;
  }

  async #applyAll(
    target: ObjectTarget,
    rendered: ReadonlyMap<Stage, readonly UnstructuredObject[]>,
  ): Promise<{ applied: readonly AppliedObject[] } | Result> {
    const applied: AppliedObject[] = [];
    for (const [stage, objects] of rendered) {
      const made = await this.#apply(target, stage, objects);
      if ('kind' in made) return made;
      applied.push(...made.applied);
    }
    return { applied };
  }

  #follow(target: ObjectTarget, applied: readonly AppliedObject[]): Result {
    const { drift } = this.#tools;
    const key = objectKey(this.#cluster);
    drift.follow(key, target.client, driftSource, applied);
    return drift.isPartial(key) ? afterPatiently(compareMs, 'add-ons are compared') : done();
  }

  #lateness({ name }: Stage): string | undefined {
    const scope = { addon: this.#draft, cluster: this.#cluster };
    return lateness(scope, name, this.#context.clock.now());
  }
}
