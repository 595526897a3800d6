import { type Cluster, KubeadmControlPlanes, type LifecycleHook } from '../../src/api/index.ts';
import type { BuiltInHookHandler, HookCaller } from '../../src/controllers/index.ts';
import type { Clock } from '../../src/machinery/index.ts';
import { InvariantViolation } from './broken-promise.ts';
import type { System } from './system.ts';

const lifecycleHooks = [
  'BeforeClusterCreate',
  'AfterControlPlaneInitialized',
  'BeforeClusterUpgrade',
  'BeforeControlPlaneUpgrade',
  'AfterControlPlaneUpgrade',
  'BeforeWorkersUpgrade',
  'AfterWorkersUpgrade',
  'AfterClusterUpgrade',
  'BeforeClusterDelete',
] as const satisfies readonly LifecycleHook[];

type HookResult = Awaited<ReturnType<HookCaller['call']>>;

/** Lifecycle hook server that does not always approve at once. */
export interface SimulatedHooks {
  readonly names: readonly LifecycleHook[];
  readonly handlers: readonly BuiltInHookHandler[];
  /** makes a hook delay or fail until a time */
  stall(hook: LifecycleHook, untilMs: number, how: 'wait' | 'failed'): void;
  /** approved control plane versions, by uid of the Cluster */
  readonly agreed: ReadonlyMap<string, ReadonlySet<string>>;
}

export function createSimulatedHooks(clock: Clock): SimulatedHooks {
  const stalls = new Map<LifecycleHook, { untilMs: number; how: 'wait' | 'failed' }>();
  const agreed = new Map<string, Set<string>>();
  const agree = (uid: string | undefined, version: string | undefined): void => {
    const versions = agreed.get(uid ?? '') ?? new Set();
    agreed.set(uid ?? '', versions.add(version ?? ''));
  };
  const answer = async (
    hook: LifecycleHook,
    { cluster, toKubernetesVersion }: { cluster: Cluster; toKubernetesVersion?: string },
  ): Promise<HookResult> => {
    const stall = stalls.get(hook);
    const leftMs = (stall?.untilMs ?? 0) - clock.now();
    if (stall?.how === 'failed' && leftMs > 0) return { status: 'failed', message: 'out of order' };
    if (leftMs > 0) return { status: 'wait', retryAfterSeconds: 1 + (leftMs % 30), message: 'not yet' };
    const { metadata, spec } = cluster;
    if (hook === 'BeforeClusterCreate') agree(metadata.uid, spec.topology?.version);
    if (hook === 'BeforeControlPlaneUpgrade') agree(metadata.uid, toKubernetesVersion);
    return { status: 'go-on' };
  };
  const handlers = lifecycleHooks.map(
    (hook): BuiltInHookHandler => ({
      hook,
      name: 'simulated',
      call: (request: { cluster: Cluster }) => answer(hook, request),
    }),
  );
  return { names: lifecycleHooks, handlers, agreed, stall: (hook, untilMs, how) => stalls.set(hook, { untilMs, how }) };
}

/** Checks that a control plane gets a version only after the hooks approved it. */
export async function checkHooks({ client, hooks }: System): Promise<void> {
  for (const { metadata, spec } of (await client.list(KubeadmControlPlanes, {})).items) {
    if (metadata.labels?.['topology.cluster.x-k8s.io/owned'] === undefined) continue;
    const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Cluster');
    if (owner && hooks.agreed.get(owner.uid)?.has(spec.version) !== true) {
      throw new InvariantViolation(
        'hooks are asked first',
        `${metadata.name} has ${spec.version}, which nobody agreed to`,
      );
    }
  }
}
