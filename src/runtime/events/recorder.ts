import { type Client, onBehalfOf } from '../../client/index.ts';
import {
  ApiStatusError,
  type Clock,
  formatTime,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type Random,
  sleep,
} from '../../machinery/index.ts';
import type { Logger } from '../log.ts';
import { createCorrelator } from './correlator.ts';
import { createGathering } from './gathering.ts';
import type { EventReason } from './reasons.ts';
import { type CoreEvent, CoreEvents, type EventType, type ObjectReference } from './types.ts';

/** Records events for users on an object. Returns at once and never throws. */
export interface EventRecorder {
  event(
    object: KubeObject,
    type: EventType,
    reason: EventReason,
    message: string,
    options?: { related?: KubeObject; action?: string },
  ): void;
}

export interface EventBroadcaster {
  /** recorder for one part of the program; `kubectl describe` shows `component` under From */
  recorder(component: string): EventRecorder;
  /** resolves when all recorded events were delivered or dropped; for graceful shutdown and tests */
  flush(): Promise<void>;
  /** drops waiting events */
  stop(): void;
}

export interface EventBroadcasterOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  /** used as reportingInstance and source.host */
  instance?: string;
  /** further events are dropped when this many wait; client-go keeps 1000 */
  maxQueued?: number;
  /** Normal events of one object within this time are written as one; default 0 */
  gatherMs?: number;
}

const maxTries = 12;
const retryMs = 10_000;
/** The API rejects longer messages. */
const maxMessageLength = 1024;

export function createEventBroadcaster(options: EventBroadcasterOptions): EventBroadcaster {
  const { clock, random, log } = options;
  const maxQueued = options.maxQueued ?? 1000;
  const gathered = createGathering({
    clock,
    gatherMs: options.gatherMs ?? 0,
    maxObjects: maxQueued,
    maxMessageLength,
    send: (event) => enqueue(event),
  });
  const correlator = createCorrelator(clock);
  const queue: CoreEvent[] = [];
  const stop = new AbortController();
  let sequence = 0;
  let dropped = 0;
  let delivering: Promise<void> | undefined;

  const write = async (event: CoreEvent, client: Client): Promise<void> => {
    const correlation = correlator.correlate(event);
    if (correlation.kind === 'drop') return;
    const writeOptions = { fieldManager: event.reportingComponent || 'capstan', signal: stop.signal };
    const { namespace = '', name = '' } = correlation.event.metadata;
    for (let tries = 1; ; tries++) {
      try {
        if (correlation.kind === 'patch') {
          try {
            await client.patch(CoreEvents, { namespace, name }, 'merge', correlation.patch, writeOptions);
            return;
          } catch (error) {
            // Events expire after an hour.
            if (!isNotFound(error)) throw error;
          }
        }
        await client.create(CoreEvents, correlation.event, writeOptions);
        return;
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof ApiStatusError && error.code < 500 && error.code !== 429) {
          // A terminating namespace deletes its events as well.
          if (!isAlreadyExists(error) && !isNotFound(error))
            log.debug('Event was refused', { reason: event.reason, error });
          return;
        }
        if (tries >= maxTries) {
          log.warn('Event was given up', { reason: event.reason, error });
          return;
        }
      }
      const pauseMs = tries === 1 ? retryMs * random.next() : retryMs;
      await sleep(clock, pauseMs, stop.signal).catch(() => {});
      if (stop.signal.aborted) return;
    }
  };

  const deliver = async (): Promise<void> => {
    for (let event = queue.shift(); event !== undefined && !stop.signal.aborted; event = queue.shift()) {
      // One delivery loop sends the events of many components.
      await write(event, onBehalfOf(event.reportingComponent ?? '', options.client));
    }
    if (dropped > 0) {
      log.warn('Events were dropped because too many were waiting', { count: dropped });
      dropped = 0;
    }
  };

  const enqueue = (event: CoreEvent): void => {
    if (stop.signal.aborted) return;
    if (queue.length >= maxQueued) {
      dropped++;
      return;
    }
    queue.push(event);
    if (!delivering) startDelivery();
  };

  const startDelivery = (): void => {
    delivering = deliver().finally(() => {
      delivering = undefined;
      // An event may have arrived after the last check of the queue.
      if (queue.length > 0 && !stop.signal.aborted) startDelivery();
    });
  };

  return {
    recorder: (component) => ({
      event(object, type, reason, message, extra = {}) {
        const regarding = referenceTo(object);
        const now = formatTime(clock.now());
        const name = regarding.name ?? '';
        gathered.add({
          apiVersion: 'v1',
          kind: 'Event',
          metadata: {
            // Upstream appends the time in hexadecimal nanoseconds. This clock has milliseconds, so a counter is added.
            name: `${name.slice(0, 230)}.${(BigInt(Math.trunc(clock.now())) * 1_000_000n + BigInt(sequence++ % 1_000_000)).toString(16)}`,
            namespace: regarding.namespace || 'default',
          },
          involvedObject: regarding,
          ...(extra.related && { related: referenceTo(extra.related) }),
          reason,
          message: message.length > maxMessageLength ? `${message.slice(0, maxMessageLength - 1)}…` : message,
          type,
          ...(extra.action !== undefined && { action: extra.action }),
          count: 1,
          firstTimestamp: now,
          lastTimestamp: now,
          source: { component, ...(options.instance !== undefined && { host: options.instance }) },
          reportingComponent: component,
          reportingInstance: options.instance ?? '',
        });
      },
    }),
    async flush() {
      gathered.sendAll();
      while (delivering) await delivering;
    },
    stop() {
      stop.abort();
      gathered.drop();
      queue.length = 0;
    },
  };
}

function referenceTo(object: KubeObject): ObjectReference {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

export const nullRecorder: EventRecorder = { event: () => {} };
