import {
  type Cluster,
  type ClusterAddon,
  ClusterAddons,
  ClusterStackReleases,
  type HookRequests,
} from '../../../api/index.ts';
import { type Client, objectKey } from '../../../client/index.ts';
import type { CacheReader } from '../../../runtime/index.ts';
import type { BuiltInHookHandler, HookResult } from '../../shared/index.ts';
import type { StackCatalog } from '../catalog.ts';
import { conditionOf, readyCondition } from '../conditions.ts';
import { stackFieldManager } from '../names.ts';
import type { StageHook } from '../release/addon-config.ts';
import { SourcePendingError } from '../source/patience.ts';
import { stackUseOf } from '../uses.ts';
import { addonKey, servedHookAnnotation, skipGateAnnotation } from './names.ts';
import { stagesOf } from './render-stage.ts';

const handlerName = 'cluster-addons';
const retryAfterSeconds = 10;

export interface AddonHooksOptions {
  readonly client: Client;
  readonly cache: CacheReader;
  readonly catalog: StackCatalog;
}

/** What the program answers when the topology of a cluster asks whether it may go on. */
export function addonHookHandlers(options: AddonHooksOptions): BuiltInHookHandler[] {
  const { cache } = options;
  /** other classes have no add-ons of ours, however they are named */
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
        // nobody waits for this hook: a ClusterAddon that comes later begins by itself
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

/** The add-ons of the new release are applied before anything of the cluster is upgraded. */
async function beforeUpgrade(
  { client, cache }: AddonHooksOptions,
  { cluster }: HookRequests['BeforeClusterUpgrade'],
  signal: AbortSignal,
): Promise<HookResult> {
  const wanted = cluster.spec.topology?.classRef.name ?? '';
  const isSkipped = cluster.metadata.annotations?.[skipGateAnnotation] !== undefined;
  const addon = addonOf(cache, cluster);
  if (addon === undefined) return isSkipped ? { status: 'go-on' } : waits('its ClusterAddon is not there yet');
  if (addon.spec.clusterStack === wanted && !addon.spec.hook) return { status: 'go-on' };
  if (!addon.spec.hook) {
    await ask(client, addon, addon.spec.clusterStack ? 'BeforeClusterUpgrade' : 'AfterControlPlaneInitialized', signal);
  }
  return isSkipped ? { status: 'go-on' } : waits(progressOf(addon, wanted));
}

/** Stages for after the upgrade, where the release has any. */
async function afterUpgrade(
  { client, cache, catalog }: AddonHooksOptions,
  { cluster }: HookRequests['AfterClusterUpgrade'],
  signal: AbortSignal,
): Promise<HookResult> {
  const use = stackUseOf(cluster);
  const addon = addonOf(cache, cluster);
  if (use === undefined || addon === undefined) return { status: 'go-on' };
  const wanted = cluster.spec.topology?.classRef.name ?? '';
  const release = await catalog.release(use.id, signal).catch((error: unknown) => {
    if (error instanceof SourcePendingError) return error;
    throw error;
  });
  if (release instanceof SourcePendingError) return waits(release.message);
  if (stagesOf(release, 'AfterClusterUpgrade').length === 0) return { status: 'go-on' };
  if (addon.metadata.annotations?.[servedHookAnnotation] === `AfterClusterUpgrade ${wanted}`)
    return { status: 'go-on' };
  if (!addon.spec.hook) await ask(client, addon, 'AfterClusterUpgrade', signal);
  if (cluster.metadata.annotations?.[skipGateAnnotation] !== undefined) return { status: 'go-on' };
  return waits(progressOf(addon, wanted));
}

function progressOf(addon: ClusterAddon, wanted: string): string {
  const verdict = conditionOf(addon, readyCondition);
  const stage = addon.status?.stages?.find(({ phase }) => phase !== 'done');
  const where = stage === undefined ? '' : `, stage ${stage.name} is ${stage.phase}`;
  const why = verdict?.status === 'False' && verdict.message ? `: ${verdict.message}` : '';
  return `add-ons of ${wanted} are being applied${where}${why}`;
}
