import {
  type Cluster,
  type ClusterAddon,
  ClusterAddons,
  ClusterStackReleases,
  type HookRequests,
} from '../../../api/index.ts';
import { type Client, objectKey } from '../../../client/index.ts';
import { errorWithHint } from '../../../machinery/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import type { BuiltInHookHandler, HookResult } from '../../shared/index.ts';
import type { StackCatalog } from '../catalog.ts';
import { conditionOf, readyCondition } from '../conditions.ts';
import { stackFieldManager } from '../names.ts';
import type { StageHook } from '../release/addon-config.ts';
import type { StackRelease } from '../release/release.ts';
import { stackUseOf } from '../uses.ts';
import { addonKey, servedHook, servedHookAnnotation, skipGateAnnotation } from './names.ts';
import { stagesOf } from './render-stage.ts';

const handlerName = 'cluster-addons';
const retryAfterSeconds = 10;

export interface AddonHooksOptions {
  readonly client: Client;
  readonly cache: CacheReader;
  readonly catalog: StackCatalog;
}

/** Builds the hook handlers through which a cluster's topology waits for its add-ons. */
export function addonHookHandlers(options: AddonHooksOptions): BuiltInHookHandler[] {
  const { cache } = options;
  /** classes without a release have no add-ons, whatever their name */
  const concerns = ({ cluster }: { cluster: Cluster }): boolean => {
    const use = stackUseOf(cluster);
    if (use === undefined) return false;
    return cache.lister(ClusterStackReleases).get({ namespace: use.namespace, name: use.release }) !== undefined;
  };
  return [
    {
      hook: 'AfterControlPlaneInitialized',
      name: handlerName,
      concerns,
      call: async ({ cluster }, signal) => {
        const addon = addonOf(cache, cluster);
        // this hook does not block: a later ClusterAddon starts by itself
        if (addon && !addon.spec.clusterStack && !addon.spec.hook) {
          await ask(options.client, addon, 'AfterControlPlaneInitialized', signal);
        }
        return { status: 'go-on' };
      },
    },
    {
      hook: 'BeforeClusterUpgrade',
      name: handlerName,
      concerns,
      call: (request, signal) => beforeUpgrade(options, request, signal),
    },
    {
      hook: 'AfterClusterUpgrade',
      name: handlerName,
      concerns,
      call: (request, signal) => afterUpgrade(options, request, signal),
    },
  ];
}

const addonOf = (cache: CacheReader, { metadata }: Cluster): ClusterAddon | undefined =>
  cache.lister(ClusterAddons).get(
    addonKey({
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      name: metadata.name ?? '',
    }),
  );

async function ask(client: Client, addon: ClusterAddon, hook: StageHook, signal: AbortSignal): Promise<void> {
  const patch = { spec: { hook } };
  await client.patch(ClusterAddons, objectKey(addon), 'merge', patch, { fieldManager: stackFieldManager, signal });
}

const waits = (message: string): HookResult => ({ status: 'wait', retryAfterSeconds, message });

/** Applies the add-ons of the new release before the cluster is upgraded. */
async function beforeUpgrade(
  { client, cache }: AddonHooksOptions,
  { cluster }: HookRequests['BeforeClusterUpgrade'],
  signal: AbortSignal,
): Promise<HookResult> {
  const wanted = cluster.spec.topology?.classRef.name ?? '';
  const isSkipped = cluster.metadata.annotations?.[skipGateAnnotation] !== undefined;
  const addon = addonOf(cache, cluster);
  if (addon === undefined) return isSkipped ? { status: 'go-on' } : waits('its ClusterAddon does not exist yet');
  if (addon.spec.clusterStack === wanted && !addon.spec.hook) return { status: 'go-on' };
  if (!addon.spec.hook) {
    await ask(client, addon, addon.spec.clusterStack ? 'BeforeClusterUpgrade' : 'AfterControlPlaneInitialized', signal);
    // what it says now is older than the hook
    return isSkipped ? { status: 'go-on' } : waits(`add-ons of ${wanted} are being applied`);
  }
  return isSkipped ? { status: 'go-on' } : waits(progressOf(addon, wanted));
}

/** Runs the stages after an upgrade, if the release has any. */
async function afterUpgrade(
  { client, cache, catalog }: AddonHooksOptions,
  { cluster }: HookRequests['AfterClusterUpgrade'],
  signal: AbortSignal,
): Promise<HookResult> {
  const use = stackUseOf(cluster);
  const addon = addonOf(cache, cluster);
  if (use === undefined || addon === undefined) return { status: 'go-on' };
  const wanted = cluster.spec.topology?.classRef.name ?? '';
  const isSkipped = cluster.metadata.annotations?.[skipGateAnnotation] !== undefined;
  const unlessSkipped = (message: string): HookResult => (isSkipped ? { status: 'go-on' } : waits(message));
  let release: StackRelease;
  try {
    release = await catalog.release(use.id, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    return unlessSkipped(
      `${errorWithHint(error)}; the annotation ${skipGateAnnotation} of the Cluster skips this step`,
    );
  }
  if (stagesOf(release, 'AfterClusterUpgrade').length === 0) return { status: 'go-on' };
  if (addon.metadata.annotations?.[servedHookAnnotation] === servedHook('AfterClusterUpgrade', wanted)) {
    return { status: 'go-on' };
  }
  if (!addon.spec.hook) await ask(client, addon, 'AfterClusterUpgrade', signal);
  return unlessSkipped(progressOf(addon, wanted));
}

function progressOf(addon: ClusterAddon, wanted: string): string {
  const verdict = conditionOf(addon, readyCondition);
  const stage = addon.status?.stages?.find(({ phase }) => phase !== 'done');
  const where = stage === undefined ? '' : `, stage ${stage.name} is ${stage.phase}`;
  const why = verdict?.status === 'False' && verdict.message ? `: ${verdict.message}` : '';
  return `add-ons of ${wanted} are being applied${where}${why}`;
}
