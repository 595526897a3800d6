import { Nodes, PersistentVolumeClaims, type Pod, type PodStatus, Pods } from '../../api/index.ts';
import { formatKey, type ObjectKey, objectKey, parseKey } from '../../client/index.ts';
import { type Clock, deepEqual, formatTime, isNotFound, type KubeObject, must } from '../../machinery/index.ts';
import {
  after,
  type CacheReader,
  type ControllerDefinition,
  defineController,
  done,
  type EventRecorder,
  foreignReason,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import {
  isDemanding,
  objectLookup,
  type PodRejection,
  type PodSandbox,
  PodWorker,
  type PodWorkerParts,
  type PortService,
  podLimit,
  rejectionOn,
} from '../../simkube/index.ts';
import type { PodContents } from './contents.ts';
import type { PodReferences } from './references.ts';

const fieldManager = 'kubelet';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

export interface PodControllerOptions
  extends Omit<PodWorkerParts, 'lookup' | 'tell' | 'wake' | 'placed' | 'left' | 'clock'> {
  readonly clock: Clock;
  readonly references: PodReferences;
  readonly contents: PodContents;
}

/** Access to the running Pods. */
export interface RunningPods {
  /**
   * the service at a port of the Pod with this address; undefined if nobody listens there, `absent` if there is no such
   * Pod
   */
  service(address: string, port: number): PortService | 'absent' | undefined;
  worker(pod: KubeObject): PodWorker | undefined;
  /** stops all Pods without changing their objects */
  stop(): Promise<void>;
}

/** Runs the Pods of the node and reports their status, as a kubelet does. */
export function podController(options: PodControllerOptions): { controller: ControllerDefinition; pods: RunningPods } {
  const { nodeName, clock, references, contents } = options;
  const workers = new Map<string, PodWorker>();
  /** Pods that had finished before they were first seen: uid by name */
  const over = new Map<string, string>();
  /** by address; Pods with host network share one */
  const places = new Map<string, Set<PodSandbox>>();
  const isOurs = ({ spec, metadata }: Pod): boolean =>
    spec.nodeName === nodeName && metadata.annotations?.[mirrorAnnotation] === undefined;
  let enqueue: (key: ObjectKey) => void = () => {};
  let events: EventRecorder | undefined;
  let parts: PodWorkerParts;

  /** Returns the reason why a Pod that has not started cannot be admitted next to the running ones. */
  const rejectionOf = (cache: CacheReader, pod: Pod): PodRejection | undefined => {
    const node = cache.lister(Nodes).get({ name: nodeName });
    if (!node || pod.status?.startTime !== undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
    const others: Pod[] = [];
    // Most Pods have no resource requests, so only their number matters.
    if (!isDemanding(pod) && workers.size < (podLimit(node) ?? Number.POSITIVE_INFINITY)) return undefined;
    for (const [id, worker] of workers) {
      const other = cache.lister(Pods).get(parseKey(id));
      if (other && other.metadata.uid === worker.uid && !worker.isEnded) others.push(other);
    }
    return rejectionOn(node, pod, others);
  };

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    events ??= context.events;
    const id = formatKey(key);
    const pod = context.cache.lister(Pods).get(key);
    let worker = workers.get(id);
    if (worker && (!pod || worker.uid !== pod.metadata.uid)) {
      // The Pod was deleted without a grace period. A successor of the same name waits until everything of this one has
      // ended.
      worker.end(0);
      if (!worker.isEnded) return done();
      workers.delete(id);
      options.logs?.forget(worker.uid);
      worker = undefined;
    }
    const former = over.get(id);
    if (former !== undefined && former !== pod?.metadata.uid) {
      over.delete(id);
      options.logs?.forget(former);
    }
    if (!pod || !isOurs(pod)) {
      contents.release(id);
      return done();
    }
    if (!worker) {
      if (isFinished(pod)) {
        contents.release(id);
        over.set(id, must(pod.metadata.uid, 'the uid of a Pod'));
        return pod.metadata.deletionTimestamp === undefined ? done() : remove(context, pod);
      }
      const rejection = rejectionOf(context.cache, pod);
      if (rejection) {
        context.events.event(pod, 'Warning', foreignReason(rejection.reason), rejection.message);
        await writeStatus(context, pod, rejectedStatus(pod, rejection, clock.now()));
        return done();
      }
      worker = new PodWorker(pod, parts);
      workers.set(id, worker);
    }
    contents.hold(pod);
    // Another writer has marked the Pod as finished. That is final, so its containers are stopped.
    if (isFinished(pod)) worker.endAs(pod);
    const due = worker.sync(pod, references.keyOf(pod));
    if (!worker.isBeginning) await writeStatus(context, pod, worker.status());
    if (worker.isEnded && pod.metadata.deletionTimestamp !== undefined) return remove(context, pod);
    return due === undefined ? done() : after(Math.max(0, due - clock.now()), 'a container has to wait');
  };

  return {
    controller: defineController({
      name: 'kubelet',
      for: Pods,
      continuesAfterOwnWrite: 'status',
      concurrency: 16,
      watches: [
        watchObjects(Pods, { predicates: [({ object }) => isOurs(object)] }),
        ...contents.watches(references),
        watchMapped(PersistentVolumeClaims, (claim) => references.podsOf('claim', claim)),
      ],
      sources: [
        {
          start(source) {
            enqueue = (key) => source.enqueue(key);
            contents.start?.(references, enqueue);
          },
        },
      ],
      setup(cache) {
        parts = {
          ...options,
          lookup: objectLookup(options.client, cache, contents),
          tell: (pod, type, reason, message) => events?.event(pod, type, foreignReason(reason), message),
          wake: (pod) => enqueue(objectKey(pod)),
          placed(sandbox) {
            const neighbours = places.get(sandbox.address) ?? new Set();
            places.set(sandbox.address, neighbours.add(sandbox));
          },
          left(sandbox) {
            const neighbours = places.get(sandbox.address);
            neighbours?.delete(sandbox);
            if (neighbours?.size === 0) places.delete(sandbox.address);
          },
        };
      },
      reconcile,
    }),
    pods: {
      service(address, port) {
        const sandboxes = places.get(address);
        if (!sandboxes) return 'absent';
        for (const sandbox of sandboxes) {
          const service = sandbox.service(port);
          if (service) return service;
        }
        return undefined;
      },
      worker(pod) {
        const worker = workers.get(formatKey(objectKey(pod)));
        return worker?.uid === pod.metadata.uid ? worker : undefined;
      },
      async stop() {
        await options.backend.close();
      },
    },
  };
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Status of a rejected Pod; none of its containers was started. */
function rejectedStatus(pod: Pod, { reason, message }: PodRejection, now: number): PodStatus {
  return {
    ...pod.status,
    observedGeneration: pod.metadata.generation ?? 1,
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: formatTime(now),
  };
}

async function writeStatus({ client, signal }: ReconcileContext, pod: Pod, status: PodStatus): Promise<void> {
  if (deepEqual(status, pod.status)) return;
  await client
    .update(Pods, { ...pod, status }, { fieldManager, subresource: 'status', signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}

/** Deletes the object of a Pod that has ended here. */
async function remove({ client, signal }: ReconcileContext, pod: Pod): Promise<Result> {
  // Finalizers of others may keep the object. The host is done with it.
  if (pod.metadata.deletionGracePeriodSeconds === 0 && (pod.metadata.finalizers?.length ?? 0) > 0) return done();
  const preconditions = { uid: must(pod.metadata.uid, 'the uid of a Pod') };
  await client
    .delete(Pods, objectKey(pod), { gracePeriodSeconds: 0, preconditions, signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  return done();
}
