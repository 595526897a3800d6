import { type PersistentVolumeClaim, PersistentVolumeClaims, type Pod, Pods } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { type ControllerDefinition, defineController, done, watchMapped, watchObjects } from '../../runtime/index.ts';
import { markState, writeMark } from './protection-mark.ts';

export interface ClaimProtectionOptions {
  /** client that reads whole pods; default: the controller's own client, whose cache may hold metadata only */
  reader?: Client;
}

const finalizer = 'kubernetes.io/pvc-protection';
const fieldManager = 'pvc-protection-controller';

/** Keeps claims that are being deleted until no scheduled pod uses them. */
export function claimProtection(options: ClaimProtectionOptions = {}): ControllerDefinition {
  /** claims that wait for pods to be deleted, by namespace */
  const waiting = new Map<string, Set<string>>();
  return defineController({
    name: 'pvc-protection',
    for: PersistentVolumeClaims,
    watches: [
      watchObjects(PersistentVolumeClaims, {
        predicates: [({ type, object }) => type !== 'delete' && markState(object, finalizer) !== 'settled'],
      }),
      watchMapped(
        Pods,
        ({ metadata: { namespace = '' } }) => [...(waiting.get(namespace) ?? [])].map((name) => ({ namespace, name })),
        { predicates: [({ type }) => type === 'delete'] },
      ),
    ],
    concurrency: 2,
    async reconcile({ client, cache, signal }, { namespace = '', name }) {
      const claim = cache.lister(PersistentVolumeClaims).get({ namespace, name });
      const state = claim ? markState(claim, finalizer) : 'settled';
      // Remembered before the pods are read, so that no deletion in between is missed.
      remember(waiting, namespace, name, { waits: state === 'held' });
      if (!claim || state === 'settled') return done();
      if (state === 'held') {
        const { items } = await (options.reader ?? client).list(Pods, { namespace, signal });
        if (items.some((pod) => uses(pod, claim))) return done();
      }
      const write = { marked: state === 'missing', fieldManager, signal };
      await writeMark(client, PersistentVolumeClaims, claim, finalizer, write);
      remember(waiting, namespace, name, { waits: false });
      return done();
    },
  });
}

function remember(
  waiting: Map<string, Set<string>>,
  namespace: string,
  name: string,
  { waits }: { waits: boolean },
): void {
  const names = waiting.get(namespace) ?? new Set();
  if (waits) waiting.set(namespace, names.add(name));
  else if (names.delete(name) && names.size === 0) waiting.delete(namespace);
}

/** Pods without a node do not count: they cannot start with a claim that is being deleted. */
function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const { nodeName, volumes = [] } = pod.spec ?? {};
  if (!nodeName) return false;
  const { name } = claim.metadata;
  return volumes.some(
    (volume) =>
      volume.persistentVolumeClaim?.claimName === name ||
      (volume.ephemeral !== undefined &&
        `${pod.metadata.name}-${volume.name}` === name &&
        isMadeFor(claim, pod) &&
        !isShutDown(pod)),
  );
}

function isMadeFor(claim: PersistentVolumeClaim, pod: Pod): boolean {
  return claim.metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid) ?? false;
}

/**
 * The kubelet has stopped the pod, which waits only for finalizers. Its volumes may be released first, because a
 * finalizer may wait for them.
 */
function isShutDown({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}
