import {
  Clusters,
  clusterNameLabel,
  Images,
  IPAddressClaims,
  IPAddresses,
  type OpenStackServer,
  OpenStackServers,
} from '../../../api/index.ts';
import { type InformerFactory, type ObjectKey, objectKey } from '../../../client/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import type { Server } from '../../../openstack/index.ts';
import {
  after,
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
import { draftOf, isDeleting, isFilteredOut, pausedBy, watchFilter, writeObject } from '../../shared/index.ts';
import { createAttention } from '../common/attention.ts';
import { authenticationCondition, notReady, openStackErrorReason, setAuthentication } from '../common/conditions.ts';
import { defaultConcurrency, type InfrastructureDependencies } from '../common/dependencies.ts';
import { abandonAnnotation, clusterDescription, heldBack, openStackServerFinalizer } from '../common/names.ts';
import { CloudFault, cloudFaultOf, UnusableInput } from '../common/outcomes.ts';
import { ownerId, ownerMark } from '../common/ownership.ts';
import { mayHaveMade, recordIntent } from '../common/record-intent.ts';
import { ownsUpstreams } from '../common/upstream.ts';
import { warnOfNews } from '../common/warn.ts';
import { indexByIdentity, rotationSource } from '../common/watches.ts';
import { applyAddressPairs } from './address-pairs.ts';
import { addressesOf } from './addresses.ts';
import { createCloudFinder } from './cloud-finder.ts';
import { Awaited, dependencyFailedReason, instanceReadyCondition } from './conditions.ts';
import { drop, mayOwnResources, reconcileDelete } from './deletion.ts';
import { adoptInstance, createInstance, recallInstance } from './instance.ts';
import { createLookupCache } from './lookup-cache.ts';
import { missServer, notePlace } from './loss.ts';
import { createServerMemories } from './memory.ts';
import { explainStop } from './outcome.ts';
import { attachAddress, claimedAddress } from './pool-address.ts';
import { ensurePorts } from './ports.ts';
import { failedToBuild, forgetFailedBuild, isBeingReplaced, removeFailedBuild } from './rebuild.ts';
import { isResolved, resolveSpec } from './resolve-spec.ts';
import { createScope, judge, type ServerScope, save, updateStatus } from './scope.ts';
import { cutOffState, isCutOff, stateOf } from './server-state.ts';
import { ensureVolumes } from './volumes.ts';

/** Index of servers by the name of the Image they use. */
const byImage = 'image';

/**
 * Builds the controller of OpenStackServers, each of which is one Nova server with ports, trunks, volumes and an
 * address from a pool.
 */
export function openStackServerController(dependencies: InfrastructureDependencies): ControllerDefinition {
  const attention = createAttention();
  const memories = dependencies.serverMemories ?? createServerMemories();
  const lookups = dependencies.lookups ?? createLookupCache({ clock: dependencies.clock });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cached = context.cache.lister(OpenStackServers).get(key);
    if (!cached) {
      attention.forget(key);
      return done();
    }
    if (isFilteredOut(cached, dependencies.watchFilter) || isPaused(context, cached)) return done();
    const uid = cached.metadata.uid ?? '';
    const server = await recordIntent(context, OpenStackServers, cached, openStackServerFinalizer);
    const isNew = server !== cached && !mayHaveMade(cached, openStackServerFinalizer);
    if (isNew || memories.meets(ownerId(cached))) memories.begin(uid);
    if (server.metadata.finalizers?.includes(openStackServerFinalizer) !== true) return done();
    const draft = draftOf(server);
    const result = await pass(context, key, server, draft);
    if (draft.metadata.finalizers?.includes(openStackServerFinalizer) !== true) {
      memories.forget(uid);
      attention.forget(key);
    } else if (isSettled(draft)) memories.forget(uid);
    return result;
  };

  const pass = async (
    context: ReconcileContext,
    key: ObjectKey,
    original: OpenStackServer,
    draft: OpenStackServer,
  ): Promise<Result> => {
    const store = async (from: OpenStackServer): Promise<void> => {
      await writeObject(context, OpenStackServers, from, draft, { observed: false });
    };
    if (isDeleting(original) && !mayOwnResources(original)) {
      drop(draft);
      await store(original);
      return done();
    }
    let scope: ServerScope;
    try {
      const { namespace = '', uid = '' } = original.metadata;
      const cloud = await dependencies.clouds.access(original.spec.identityRef, namespace, {
        signal: context.signal,
        leaving: isDeleting(original),
      });
      scope = createScope({
        context,
        key,
        original,
        server: draft,
        cloud,
        owner: ownerId(original),
        isBegunByUpstream: ownsUpstreams(
          {
            object: original,
            finalizer: openStackServerFinalizer,
            isRecorded: original.status?.instanceID !== undefined,
          },
          cloud,
        ),
        memory: memories.of(uid),
      });
    } catch (error) {
      if (error instanceof CloudFault) warnOfNews(context, original, authenticationCondition, error);
      const result = withoutCloud(context, draft, error);
      await store(original);
      return result;
    }
    setAuthentication(draft as { status?: object }, undefined, context.clock.now());
    updateStatus(draft, {});
    let result: Result;
    let failure: unknown;
    try {
      result = (await (isDeleting(original) ? reconcileDelete(scope) : reconcileNormal(scope))) ?? done();
    } catch (error) {
      const pause = explainStop(scope, error);
      if (!pause) failure = error;
      result = pause ?? done();
    }
    attention.follow(key, scope.observedState, scope.follows);
    await store(scope.original);
    if (failure !== undefined) throw failure;
    return result;
  };

  const reconcileNormal = async (scope: ServerScope): Promise<Result | undefined> => {
    if (scope.server.status?.instanceID === undefined && !recallInstance(scope)) await create(scope);
    return await observe(scope);
  };

  const create = async (scope: ServerScope): Promise<void> => {
    await resolve(scope);
    if (await adoptInstance(scope)) return;
    await claimedAddress(scope);
    const [ports, volumes] = await Promise.allSettled([ensurePorts(scope), ensureVolumes(scope)]);
    if (ports.status === 'rejected') throw ports.reason;
    if (volumes.status === 'rejected') throw volumes.reason;
    await createInstance(scope, { portIds: ports.value, volumes: volumes.value });
  };

  /** Resolves the spec once, and stores the result before anything is created from it. */
  const resolve = async (scope: ServerScope): Promise<void> => {
    const { server, cloud, context, owner } = scope;
    if (isResolved(server)) return;
    const { namespace = '' } = server.metadata;
    const finder = createCloudFinder({
      openstack: cloud.openstack,
      projectId: cloud.projectId,
      cache: lookups,
      imageObject: (name) => context.cache.lister(Images).get({ namespace, name }),
    });
    const mark = ownerMark(owner);
    const clusterName = server.metadata.labels?.[clusterNameLabel] ?? '';
    const describe = (given: string | undefined): string =>
      given === undefined ? clusterDescription(clusterName, mark) : `${given} ${mark}`;
    const resolved = await resolveSpec(server, finder, describe).catch((error: unknown) => {
      throw unresolved(error);
    });
    updateStatus(server, { resolved });
    await save(scope);
  };

  return defineController({
    name: 'openstackserver',
    for: OpenStackServers,
    continuesAfterOwnWrite: 'everything',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup: registerIndexes,
    watches: [
      watchObjects(OpenStackServers, {
        predicates: [...watchFilter(dependencies.watchFilter), changedBesidesStatus],
      }),
      watchOwned(IPAddressClaims, OpenStackServers, { anyOwner: true }),
      watchMapped(Images, ({ metadata }) =>
        dependencies.cache
          .lister(OpenStackServers)
          .byIndex(byImage, `${metadata.namespace}/${metadata.name}`)
          .map(objectKey),
      ),
      watchMapped(Clusters, ({ metadata }) => serversOf(metadata.namespace ?? '', metadata.name ?? ''), {
        predicates: [(event) => event.type !== 'update' || event.object.spec.paused !== event.old.spec.paused],
      }),
    ],
    sources: [attention.source, rotationSource(dependencies, OpenStackServers)],
    // another process may have made resources meanwhile
    released(key) {
      memories.expectNone();
      memories.forget(dependencies.cache.lister(OpenStackServers).get(key)?.metadata.uid ?? '');
    },
    reconcile,
  });

  function serversOf(namespace: string, clusterName: string): ObjectKey[] {
    return dependencies.cache
      .lister(OpenStackServers)
      .list({ namespace, filter: ({ metadata }) => metadata.labels?.[clusterNameLabel] === clusterName })
      .map(objectKey);
  }
}

function registerIndexes(cache: InformerFactory): void {
  indexByIdentity(cache, OpenStackServers, ({ spec }) => spec.identityRef);
  cache.informer(OpenStackServers).addIndexer(byImage, ({ metadata, spec, status }) => {
    const name = spec.image?.imageRef?.name;
    return name === undefined || status?.resolved?.imageID !== undefined ? [] : [`${metadata.namespace}/${name}`];
  });
  cache.informer(IPAddresses);
}

/** Tells whether the server is ready, so that its memory can be dropped. */
function isSettled(server: OpenStackServer): boolean {
  return server.status?.ready === true && !isDeleting(server) && server.spec.floatingIPPoolRef === undefined;
}

function isPaused({ cache }: ReconcileContext, server: OpenStackServer): boolean {
  const { namespace = '', labels } = server.metadata;
  const name = labels?.[clusterNameLabel];
  const cluster = name === undefined ? undefined : cache.lister(Clusters).get({ namespace, name });
  return pausedBy(server, cluster).length > 0;
}

function unresolved(error: unknown): CloudFault {
  if (error instanceof Awaited) return error;
  if (error instanceof UnusableInput) return new UnusableInput(error.message, { reason: dependencyFailedReason });
  return cloudFaultOf(error, 'What the spec names cannot be looked up', dependencyFailedReason);
}

/** Retry interval for unusable credentials; a change of them triggers a reconcile at once. */
const credentialsMs = 60_000;

/** Reports an unreachable cloud. A server whose resources the user abandons is released without it. */
function withoutCloud(context: ReconcileContext, draft: OpenStackServer, error: unknown): Result {
  if (!(error instanceof CloudFault)) throw error;
  updateStatus(draft, {});
  setAuthentication(draft as { status?: object }, error.message, context.clock.now());
  if (isDeleting(draft) && draft.metadata.annotations?.[abandonAnnotation] === 'true') {
    const { instanceID, resources } = draft.status ?? {};
    const ports = resources?.ports?.map(({ id }) => id).join(', ') ?? 'none recorded';
    const left = `server ${instanceID ?? 'not recorded'}, ports ${ports}`;
    context.events.event(draft, 'Warning', 'AbandonedCloudResources', `Left in the cloud: ${left}`);
    drop(draft);
    return done();
  }
  if (draft.status?.instanceID === undefined || isDeleting(draft)) {
    const message = isDeleting(draft) ? heldBack(error.message) : error.message;
    judge({ server: draft, context }, instanceReadyCondition, notReady(openStackErrorReason, message));
  }
  return after(error.retryMs ?? credentialsMs, error.message);
}

/** Updates the status from the shared lists. */
async function observe(scope: ServerScope): Promise<Result | undefined> {
  const { server, cloud, observedState } = scope;
  const id = server.status?.instanceID;
  if (id === undefined) return undefined;
  scope.follows.push({ type: 'server', id });
  if (observedState.isGone('server', id)) {
    if (isBeingReplaced(server)) return await forgetFailedBuild(scope);
    const answer = await missServer(scope, id);
    return 'id' in answer ? await report(scope, answer) : answer;
  }
  const seen = cloud.view.current('server', id);
  // the next list triggers a reconcile
  return seen ? await report(scope, seen) : undefined;
}

async function report(scope: ServerScope, seen: Server): Promise<Result | undefined> {
  const { server } = scope;
  notePlace(scope);
  if (failedToBuild(seen)) return await removeFailedBuild(scope, seen);
  const { ready, verdict } = isCutOff(server, seen) ? cutOffState(seen) : stateOf(seen);
  judge(scope, instanceReadyCondition, verdict);
  if (seen.status !== server.status?.instanceState) {
    scope.context.log.info(`Server is ${seen.status}`, { server: server.metadata.name, id: seen.id });
  }
  const addresses = addressesOf(seen);
  updateStatus(server, {
    ready,
    instanceState: seen.status,
    ...(!deepEqual(server.status?.addresses, addresses) && { addresses }),
  });
  if (!ready) return undefined;
  await applyAddressPairs(scope);
  await attachClaimed(scope);
  return undefined;
}

/** Attaches the claimed address. A missing address has its own condition and does not make a running server unready. */
async function attachClaimed(scope: ServerScope): Promise<void> {
  try {
    const address = await claimedAddress(scope);
    if (address !== undefined) await attachAddress(scope, address);
  } catch (error) {
    if (!(error instanceof Awaited)) throw error;
  }
}
