import { type Clock, formatTime, type JsonObject } from '../../machinery/index.ts';
import { LruMap } from './lru-map.ts';
import type { CoreEvent } from './types.ts';

/** Result of correlating an event with earlier ones. */
export type Correlation =
  | { kind: 'create'; event: CoreEvent }
  /** a repetition: increments the count of the stored event; `event` is created if that one is gone */
  | { kind: 'patch'; event: CoreEvent; patch: JsonObject }
  | { kind: 'drop' };

export interface Correlator {
  correlate(event: CoreEvent): Correlation;
}

// Values of client-go, see EventCorrelator in tools/record.
const cacheSize = 4096;
const aggregateAfter = 10;
const aggregateWindowMs = 600_000;
const spamBurst = 25;
const spamRefillMs = 300_000;

interface Observation {
  count: number;
  firstTimestamp: string;
  name: string;
}

/**
 * Behaves like client-go's correlator. Ten similar events that differ only in their message are combined into one. An
 * identical event increments the count of the stored one. A source with too many events for one object is rate limited.
 */
export function createCorrelator(clock: Clock): Correlator {
  const aggregates = new LruMap<{ messages: Set<string>; lastAt: number }>(cacheSize);
  const observations = new LruMap<Observation>(cacheSize);
  const buckets = new LruMap<{ tokens: number; at: number }>(cacheSize);

  const aggregate = (event: CoreEvent): { event: CoreEvent; key: string } => {
    const now = clock.now();
    const key = joinKey(aggregateKeyOf(event));
    let record = aggregates.get(key);
    if (!record || now - record.lastAt > aggregateWindowMs) record = { messages: new Set(), lastAt: now };
    record.messages.add(event.message);
    record.lastAt = now;
    aggregates.set(key, record);
    if (record.messages.size < aggregateAfter)
      return { event, key: joinKey([...aggregateKeyOf(event), event.message]) };
    const any = record.messages.values().next().value;
    if (any !== undefined) record.messages.delete(any);
    return { event: { ...event, message: `(combined from similar events): ${event.message}` }, key };
  };

  const observe = (event: CoreEvent, key: string): Correlation => {
    const last = observations.get(key);
    const lastTimestamp = formatTime(clock.now());
    if (!last) {
      observations.set(key, {
        count: 1,
        firstTimestamp: event.firstTimestamp ?? lastTimestamp,
        name: event.metadata.name ?? '',
      });
      return { kind: 'create', event };
    }
    const count = last.count + 1;
    observations.set(key, { ...last, count });
    return {
      kind: 'patch',
      event: {
        ...event,
        metadata: { ...event.metadata, name: last.name },
        firstTimestamp: last.firstTimestamp,
        lastTimestamp,
        count,
      },
      patch: { count, lastTimestamp, message: event.message },
    };
  };

  /** Token bucket per source and object: 25 events at once, then one every five minutes. */
  const isSpam = (event: CoreEvent): boolean => {
    const now = clock.now();
    const key = joinKey(spamKeyOf(event));
    const bucket = buckets.get(key) ?? { tokens: spamBurst, at: now };
    const tokens = Math.min(spamBurst, bucket.tokens + (now - bucket.at) / spamRefillMs);
    const spam = tokens < 1;
    buckets.set(key, { tokens: spam ? tokens : tokens - 1, at: now });
    return spam;
  };

  return {
    correlate(event) {
      const { event: combined, key } = aggregate(event);
      const observed = observe(combined, key);
      return isSpam(event) ? { kind: 'drop' } : observed;
    },
  };
}

function joinKey(parts: readonly (string | undefined)[]): string {
  return parts.map((part) => part ?? '').join('\u0000');
}

function spamKeyOf({ source, involvedObject, type }: CoreEvent): (string | undefined)[] {
  const { kind, namespace, name, uid, apiVersion } = involvedObject;
  return [source?.component, source?.host, kind, namespace, name, uid, apiVersion, type];
}

function aggregateKeyOf(event: CoreEvent): (string | undefined)[] {
  return [...spamKeyOf(event), event.reason, event.reportingComponent, event.reportingInstance];
}
