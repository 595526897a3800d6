import type { Client, InformerFactory, InformerScope, Lister, ObjectKey } from '../../client/index.ts';
import type { Clock, KubeObject, Random, Resource } from '../../machinery/index.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { Logger } from '../log.ts';
import type { Priority } from '../queue/work-queue.ts';
import type { Result } from './result.ts';
import type { Watch } from './watches.ts';

/** Reads from the shared caches. */
export interface CacheReader {
  /** throws when no controller watches or reads this resource in this scope: its cache would be empty for ever */
  lister<T extends KubeObject>(resource: Resource<T>, scope?: InformerScope): Lister<T>;
}

/** What a reconcile works with. */
export interface ReconcileContext {
  /** writes made through it are waited for (in the caches) before the same key is reconciled again */
  client: Client;
  cache: CacheReader;
  log: Logger;
  events: EventRecorder;
  clock: Clock;
  random: Random;
  /** aborts on timeout and when the program stops */
  signal: AbortSignal;
}

/** Wakes keys for reasons that are not in the API: a poll of a cloud, a timer. */
export interface ExternalSource {
  /** called once when the controller starts; runs until the signal aborts */
  start(context: {
    enqueue(key: ObjectKey, priority?: Priority): void;
    /** for what is only summed up: answered when no other work waits, many changes by one look */
    enqueuePatiently(key: ObjectKey): void;
    signal: AbortSignal;
  }): void | Promise<void>;
}

export interface ControllerDefinition {
  /** lower case, unique in a manager; appears in logs and metrics */
  name: string;
  /** what is reconciled; for options use `watchObjects` in `watches` and name the resource here all the same */
  for: Resource<KubeObject>;
  /** when to reconcile; default: on every change of `for` */
  watches?: readonly Watch[];
  sources?: readonly ExternalSource[];
  /** called before the caches start: register indexes, and informers that are read but not watched */
  setup?(cache: InformerFactory): void;
  reconcile(context: ReconcileContext, key: ObjectKey): Promise<Result>;
  /** keys reconciled at the same time; default 1 */
  concurrency?: number;
  /** after this long the signal aborts; default 5 minutes */
  timeoutMs?: number;
  /** how long a key that fails again and again waits at most for the next try; default 1,000 seconds */
  maxBackoffMs?: number;
  /** works when no other controller has anything to do, or late: for those whose work nobody waits for. Default false */
  background?: boolean;
  /**
   * Which of its own writes to its object a reconcile goes on with by itself, or by asking for another look with `after`:
   * they are no reason to look again. Default: none, every change is looked at.
   */
  continuesAfterOwnWrite?: 'status' | 'everything';
  /** keys of one group take turns with other groups; default: the namespace */
  groupOf?(key: ObjectKey): string;
  /** another process works on this key from now on: what is kept in memory for it can go; may be told more than once */
  released?(key: ObjectKey): void;
  /** runs also on instances that do not lead; default false */
  runsWithoutLeading?: boolean;
}

/** Checks a definition early, where the mistake can still be seen in the stack. */
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
