import {
  type IPAddress,
  type IPAddressClaim,
  IPAddressClaims,
  IPAddresses,
  type OpenStackFloatingIPPool,
  OpenStackFloatingIPPools,
} from '../../../api/index.ts';
import type { InformerFactory, ObjectKey } from '../../../client/index.ts';
import { clone, deepEqual, type KubeObject } from '../../../machinery/index.ts';
import { collect, type Network } from '../../../openstack/index.ts';
import {
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { isDeleting, isFilteredOut, pausedBy, watchFilter, withoutFinalizer } from '../../shared/index.ts';
import {
  authenticationCondition,
  authenticationFailedReason,
  notReady,
  readyVerdict,
  setAuthentication,
} from '../common/conditions.ts';
import type { InfrastructureDependencies } from '../common/dependencies.ts';
import { resolveNetwork } from '../common/filters.ts';
import { abandonAnnotation, floatingIpPoolFinalizer, heldBack } from '../common/names.ts';
import { attempt, CloudFault, UnusableInput } from '../common/outcomes.ts';
import { ownerId } from '../common/ownership.ts';
import { pauseAfter } from '../common/pause.ts';
import { mayHaveMade, recordIntent } from '../common/record-intent.ts';
import { ownsUpstreams } from '../common/upstream.ts';
import { warnOfNews } from '../common/warn.ts';
import { indexByIdentity, rotationSource } from '../common/watches.ts';
import { answerClaims } from './allocate.ts';
import { deleteFloatingIp, forgetAddress, ownFloatingIps, releaseAddresses } from './release.ts';
import {
  isPreallocated,
  judge,
  listsOf,
  maxIpsReachedReason,
  type PoolScope,
  poolReadyCondition,
  save,
  unableToFindNetworkReason,
} from './scope.ts';

/** Index of claims and addresses by namespace and name of their pool. */
const byPool = 'floatingIPPool';

/** Builds the controller of OpenStackFloatingIPPools, which assigns floating IPs to claims and takes them back. */
export function openStackFloatingIpPoolController(dependencies: InfrastructureDependencies): ControllerDefinition {
  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const cached = context.cache.lister(OpenStackFloatingIPPools).get(key);
    if (!cached || isFilteredOut(cached, dependencies.watchFilter)) return done();
    if (pausedBy(cached, undefined).length > 0) return done();
    const original = mayHaveMade(cached, floatingIpPoolFinalizer)
      ? await recordIntent(context, OpenStackFloatingIPPools, cached, floatingIpPoolFinalizer)
      : cached;
    if (isDeleting(original) && original.metadata.finalizers?.includes(floatingIpPoolFinalizer) !== true) return done();
    const pool = clone(original);
    const place = `${key.namespace}/${key.name}`;
    const parts = {
      context,
      original,
      pool,
      owner: ownerId(original),
      isBegunByUpstream: false,
      addresses: context.cache.lister(IPAddresses).byIndex(byPool, place),
      claims: context.cache.lister(IPAddressClaims).byIndex(byPool, place),
    };
    let scope: PoolScope | undefined;
    try {
      const identity = original.spec.identityRef;
      const cloud = await dependencies.clouds.access(identity, key.namespace ?? '', {
        signal: context.signal,
        leaving: isDeleting(original),
      });
      scope = {
        ...parts,
        cloud,
        isBegunByUpstream: ownsUpstreams(
          { object: original, finalizer: floatingIpPoolFinalizer, isRecorded: false },
          cloud,
        ),
      };
      setAuthentication(pool, undefined, context.clock.now());
      const result = await pass(scope);
      await save(scope);
      return result;
    } catch (error) {
      if (!(error instanceof CloudFault)) throw error;
      const stopped = scope ?? { ...parts, cloud: undefined as never };
      const pause = (await giveUp(stopped, error)) ?? explainStop(stopped, error);
      await save(stopped);
      if (!pause) throw error;
      return pause;
    }
  };

  return defineController({
    name: 'openstackfloatingippool',
    for: OpenStackFloatingIPPools,
    // addresses must be assigned one after another
    concurrency: 1,
    setup: registerIndexes,
    watches: [
      watchObjects(OpenStackFloatingIPPools, {
        predicates: [...watchFilter(dependencies.watchFilter), changedBesidesStatus],
      }),
      watchMapped(IPAddressClaims, poolKeys),
      watchMapped(IPAddresses, poolKeys),
    ],
    sources: [rotationSource(dependencies, OpenStackFloatingIPPools)],
    reconcile,
  });
}

type OfPool = KubeObject & Pick<IPAddressClaim | IPAddress, 'spec'>;

function poolKeys({ metadata, spec }: OfPool): ObjectKey[] {
  if (spec.poolRef.kind !== OpenStackFloatingIPPools.kind) return [];
  return [{ namespace: metadata.namespace ?? '', name: spec.poolRef.name }];
}

function registerIndexes(cache: InformerFactory): void {
  const place = (object: OfPool): string[] => poolKeys(object).map(({ namespace, name }) => `${namespace}/${name}`);
  cache.informer(IPAddressClaims).addIndexer(byPool, place);
  cache.informer(IPAddresses).addIndexer(byPool, place);
  indexByIdentity(cache, OpenStackFloatingIPPools, ({ spec }) => spec.identityRef);
}

async function pass(scope: PoolScope): Promise<Result> {
  const { pool } = scope;
  const kept = await releaseAddresses(scope);
  if (isDeleting(pool)) return await reconcileDelete(scope, kept);
  await findNetwork(scope);
  let given = kept;
  try {
    given = await answerClaims(scope, kept);
    judge(scope, readyVerdict);
  } finally {
    count(pool, given);
  }
  return done();
}

/** Updates the lists: claimed are the assigned addresses, available the unassigned ones. */
function count(pool: OpenStackFloatingIPPool, given: readonly IPAddress[]): void {
  const claimed = given.map(({ spec }) => spec.address).sort();
  const { available, failed } = listsOf(pool);
  const bad = failed.filter((address) => !claimed.includes(address));
  const free = [...new Set([...available, ...(pool.spec.preAllocatedFloatingIPs ?? [])])]
    .filter((address) => !claimed.includes(address) && !bad.includes(address))
    .sort();
  const { failedIPs: _, ...status } = pool.status ?? {};
  const next = { ...status, claimedIPs: claimed, availableIPs: free, ...(bad.length > 0 && { failedIPs: bad }) };
  if (!deepEqual(next, pool.status)) pool.status = next;
}

/** Finds the network once; all addresses of a pool come from one network. */
async function findNetwork(scope: PoolScope): Promise<void> {
  const { pool, cloud, context } = scope;
  if (pool.status?.floatingIPNetwork) return;
  const param = pool.spec.floatingIPNetwork;
  const { signal } = context;
  const network = await attempt('The external network cannot be found', unableToFindNetworkReason, () =>
    param
      ? resolveNetwork(cloud.openstack, param, { field: 'spec.floatingIPNetwork', signal, external: true })
      : onlyExternal(scope),
  );
  const { id, name, tags } = network;
  pool.status = { ...pool.status, floatingIPNetwork: { id, name, ...(tags.length > 0 && { tags: [...tags] }) } };
  await save(scope);
}

async function onlyExternal({ cloud, context }: PoolScope): Promise<Network> {
  const found = await collect(cloud.openstack.network.networks.list({ external: true }, { signal: context.signal }));
  const [first] = found;
  if (first && found.length === 1) return first;
  const problem =
    found.length === 0
      ? 'there is no external network'
      : `there are ${found.length} external networks (${found.map(({ name }) => name).join(', ')})`;
  throw new UnusableInput(`spec.floatingIPNetwork: ${problem}; name one by id or filter`, {
    reason: unableToFindNetworkReason,
  });
}

/** Deletes a pool once none of its addresses is in use. Its own floating IPs are deleted, user-supplied ones stay. */
async function reconcileDelete(scope: PoolScope, kept: readonly IPAddress[]): Promise<Result> {
  const { pool } = scope;
  count(pool, kept);
  const held = kept.length + scope.addresses.filter(isDeleting).length;
  if (kept.length > 0) {
    const message = `Waiting for ${held} claimed addresses to be given back`;
    judge(scope, notReady('Deleting', message));
    return done();
  }
  for (const { address } of await ownFloatingIps(scope)) {
    if (!isPreallocated(pool, address)) await deleteFloatingIp(scope, address);
  }
  pool.metadata.finalizers = withoutFinalizer(pool.metadata.finalizers, floatingIpPoolFinalizer);
  return done();
}

/**
 * Deletes a pool in an unreachable cloud if the user abandons its resources; nothing waits for its addresses any more.
 */
async function giveUp(scope: PoolScope, { reason }: CloudFault): Promise<Result | undefined> {
  const { pool, context, addresses } = scope;
  if (reason !== authenticationFailedReason || !isDeleting(pool)) return undefined;
  if (pool.metadata.annotations?.[abandonAnnotation] !== 'true') return undefined;
  const left = [...new Set([...addresses.map(({ spec }) => spec.address), ...listsOf(pool).available])];
  const what = left.length === 0 ? 'no address is recorded' : left.join(', ');
  context.events.event(pool, 'Warning', 'AbandonedCloudResources', `Left in the cloud: ${what}`);
  for (const address of addresses) await forgetAddress(scope, address);
  pool.metadata.finalizers = withoutFinalizer(pool.metadata.finalizers, floatingIpPoolFinalizer);
  return done();
}

/** Reports the error on the pool and returns the retry delay; undefined leaves it to the queue. */
function explainStop(scope: Pick<PoolScope, 'original' | 'pool' | 'context'>, error: CloudFault): Result | undefined {
  const { pool, context } = scope;
  const said = error.reason === authenticationFailedReason ? authenticationCondition : poolReadyCondition;
  warnOfNews(context, scope.original, said, error);
  const isOut = error.reason === authenticationFailedReason;
  if (isOut) setAuthentication(pool, error.message, context.clock.now());
  const message = isOut && isDeleting(pool) ? heldBack(error.message) : error.message;
  judge(scope, notReady(error.reason, message));
  // a deleted claim or a changed pool triggers a reconcile
  if (error.reason === maxIpsReachedReason) return done();
  return pauseAfter(error, context.random);
}
