import type { Client, InformerFactory, InformerScope, Lister, ObjectKey } from '../../client/index.ts';
import type { Clock, KubeObject, Random, Resource } from '../../machinery/index.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { Logger } from '../log.ts';
import type { Priority } from '../queue/work-queue.ts';
import type { Result } from './result.ts';
import type { Watch } from './watches.ts';

/** Read access to the shared caches. */
export interface CacheReader {
  /**
   * throws if no controller watches or reads this resource in this scope, because its cache would stay empty for ever
   */
  lister<T extends KubeObject>(resource: Resource<T>, scope?: InformerScope): Lister<T>;
}

/** Context of a reconcile. */
export interface ReconcileContext {
  /** a key is reconciled again only after the caches show the writes of this client */
  client: Client;
  cache: CacheReader;
  log: Logger;
  events: EventRecorder;
  clock: Clock;
  random: Random;
  /** aborts on timeout and at shutdown */
  signal: AbortSignal;
  /**
   * True if a status write that nobody waits for should be left out: the key is reconciled again soon. `times` lengthens
   * the delay. Set for APIs reached over HTTP.
   */
  statusMayWait?(resource: Resource<KubeObject>, key: ObjectKey, times?: number): boolean;
}

/** Enqueues keys for reasons outside of the API, such as a cloud poll or a timer. */
export interface ExternalSource {
  /** called once when the controller starts; runs until the signal aborts */
  start(context: {
    enqueue(key: ObjectKey, priority?: Priority): void;
    /** for aggregated data: reconciles when no other work waits, once for many changes */
    enqueuePatiently(key: ObjectKey): void;
    signal: AbortSignal;
  }): void | Promise<void>;
}

export interface ControllerDefinition {
  /** lower case, unique in a manager; used in logs and metrics */
  name: string;
  /** the reconciled resource; must be set even if `watches` contains `watchObjects` for it */
  for: Resource<KubeObject>;
  /** triggers; default: every change of `for` */
  watches?: readonly Watch[];
  sources?: readonly ExternalSource[];
  /** called before the caches start: registers indexes, and informers that are read but not watched */
  setup?(cache: InformerFactory): void;
  reconcile(context: ReconcileContext, key: ObjectKey): Promise<Result>;
  /** maximum concurrent reconciles; default 1 */
  concurrency?: number;
  /** time until the signal of a reconcile aborts; default 5 minutes */
  timeoutMs?: number;
  /** longest pause before a key that keeps failing is reconciled again; default 1,000 seconds */
  maxBackoffMs?: number;
  /** runs only when other controllers are idle, or late, for work nobody waits for; default false */
  background?: boolean;
  /**
   * Own writes to the reconciled object that need no further reconcile, because the reconcile continues by itself or
   * requeues with `after`. Default: none, every change is reconciled.
   */
  continuesAfterOwnWrite?: 'status' | 'everything';
  /** fairness group of a key; groups take turns; default: the namespace */
  groupOf?(key: ObjectKey): string;
  /**
   * called when another process takes over this key, so that its state in memory can be dropped; may be called more
   * than once
   */
  released?(key: ObjectKey): void;
  /** runs without leadership; default false */
  runsWithoutLeading?: boolean;
}

/** Validates a definition early, while the stack still shows its author. */
export function defineController(definition: ControllerDefinition): ControllerDefinition {
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(definition.name)) {
    throw new TypeError(`controller name "${definition.name}" must be lower case letters, digits and dashes`);
  }
  if (definition.concurrency !== undefined && !(definition.concurrency >= 1)) {
    throw new TypeError(`controller ${definition.name}: concurrency must be at least 1`);
  }
  if (definition.timeoutMs !== undefined && !(definition.timeoutMs > 0)) {
    throw new TypeError(`controller ${definition.name}: timeoutMs must be positive`);
  }
  return definition;
}
