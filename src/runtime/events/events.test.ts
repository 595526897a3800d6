import { describe, expect, it } from 'vitest';
import { memoryClient, requestOrigin } from '../../client/index.ts';
import { ManualClock, seededRandom, statusError } from '../../machinery/index.ts';
import { memoryLogger } from '../log.ts';
import { settle } from '../testkit/eventually.ts';
import { type FaultRule, faultyClient } from '../testkit/faulty-client.ts';
import { widget } from '../testkit/test-kinds.ts';
import { createCorrelator } from './correlator.ts';
import { foreignReason } from './reasons.ts';
import { createEventBroadcaster } from './recorder.ts';
import { type CoreEvent, CoreEvents } from './types.ts';

function setUp(rules: FaultRule[] = [], maxQueued?: number, gatherMs?: number) {
  const clock = new ManualClock();
  const server = memoryClient({ clock });
  const { logger, entries } = memoryLogger();
  const broadcaster = createEventBroadcaster({
    client: faultyClient(server, rules),
    clock,
    random: seededRandom(4),
    log: logger,
    instance: 'host-1',
    ...(maxQueued !== undefined && { maxQueued }),
    ...(gatherMs !== undefined && { gatherMs }),
  });
  const stored = async (): Promise<CoreEvent[]> => (await server.list(CoreEvents)).items;
  return { clock, server, broadcaster, entries, stored, events: broadcaster.recorder('widget-controller') };
}

const object = { ...widget('w'), metadata: { name: 'w', namespace: 'team', uid: 'u1', resourceVersion: '7' } };

describe('the event recorder', () => {
  it('counts each request for the controller that reported it', async () => {
    const origins: (string | undefined)[] = [];
    const clock = new ManualClock();
    const server = memoryClient({ clock });
    const broadcaster = createEventBroadcaster({
      client: {
        ...server,
        create: (...args) => {
          origins.push(requestOrigin());
          return server.create(...args);
        },
      },
      clock,
      random: seededRandom(4),
      log: memoryLogger().logger,
    });
    for (const name of ['first', 'second']) {
      broadcaster.recorder(name).event(object, 'Normal', foreignReason('One'), name);
    }
    await broadcaster.flush();
    expect(origins).toEqual(['first', 'second']);
  });

  it('writes an event as kubectl describe expects it', async () => {
    const { events, broadcaster, stored } = setUp();
    events.event(object, 'Warning', foreignReason('QuotaExceeded'), 'no cores left', {
      action: 'Create',
      related: widget('other'),
    });
    await broadcaster.flush();
    const [event] = await stored();
    expect(event).toMatchObject({
      metadata: { namespace: 'team', name: expect.stringMatching(/^w\.[0-9a-f]{16}$/) },
      involvedObject: {
        apiVersion: 'test.capstan.dev/v1',
        kind: 'Widget',
        namespace: 'team',
        name: 'w',
        uid: 'u1',
        resourceVersion: '7',
      },
      related: { kind: 'Widget', name: 'other' },
      type: 'Warning',
      reason: 'QuotaExceeded',
      message: 'no cores left',
      action: 'Create',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'widget-controller', host: 'host-1' },
      reportingComponent: 'widget-controller',
      reportingInstance: 'host-1',
    });
  });

  it('delivers an event that arrives at the moment all others are delivered', async () => {
    for (let ticks = 0; ticks < 12; ticks++) {
      const { events, stored } = setUp();
      events.event(object, 'Normal', foreignReason('First'), 'one');
      // Some of these ticks fall between the last check of the queue and the end of the delivery.
      let waited = Promise.resolve();
      for (let tick = 0; tick < ticks; tick++) waited = waited.then(() => {});
      await waited;
      events.event(object, 'Normal', foreignReason('Second'), 'two');
      await settle();
      expect((await stored()).map(({ reason }) => reason)).toEqual(['First', 'Second']);
    }
  });

  it('puts events about cluster-scoped objects into the default namespace', async () => {
    const { events, broadcaster, stored } = setUp();
    events.event({ ...object, metadata: { name: 'node' } }, 'Normal', foreignReason('Up'), 'is up');
    await broadcaster.flush();
    expect((await stored())[0]!.metadata.namespace).toBe('default');
  });

  it('counts a repeated event instead of writing a new one, even after the first was deleted', async () => {
    const { events, broadcaster, stored, clock, server } = setUp();
    events.event(object, 'Normal', foreignReason('Waiting'), 'for the network');
    await broadcaster.flush();
    await clock.advance(5000);
    events.event(object, 'Normal', foreignReason('Waiting'), 'for the network');
    await broadcaster.flush();
    const [event, ...more] = await stored();
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      count: 2,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:05Z',
    });
    await server.delete(CoreEvents, { namespace: 'team', name: event!.metadata.name! });
    events.event(object, 'Normal', foreignReason('Waiting'), 'for the network');
    await broadcaster.flush();
    expect((await stored())[0]).toMatchObject({ count: 3, metadata: { name: event!.metadata.name } });
  });

  it('never blocks and never fails, and keeps trying while the server is away', async () => {
    const rules: FaultRule[] = [{ error: () => new Error('connection refused') }];
    const { events, broadcaster, stored, clock } = setUp(rules);
    events.event(object, 'Normal', foreignReason('Up'), 'is up');
    await settle();
    await clock.advance(25_000);
    expect(await stored()).toEqual([]);
    rules.length = 0;
    await clock.advance(10_000);
    await broadcaster.flush();
    expect(await stored()).toHaveLength(1);
  });

  it('gives up after twelve tries, and at once when refused', async () => {
    const rules: FaultRule[] = [{ error: () => new Error('connection refused') }];
    const { events, broadcaster, clock, entries } = setUp(rules);
    events.event(object, 'Normal', foreignReason('Up'), 'is up');
    await settle();
    await clock.advance(200_000);
    await broadcaster.flush();
    expect(entries.filter(({ message }) => message === 'Event was given up')).toHaveLength(1);
    rules[0] = { error: () => statusError.forbidden({ group: '', resource: 'events' }, 'no') };
    events.event(object, 'Normal', foreignReason('Down'), 'is down');
    await broadcaster.flush();
    expect(entries.filter(({ message }) => message === 'Event was refused')).toHaveLength(1);
  });

  it('drops events when too many wait and reports how many', async () => {
    const { events, broadcaster, entries, stored } = setUp([], 5);
    for (let i = 0; i < 8; i++)
      events.event(
        { ...object, metadata: { ...object.metadata, uid: `u${i}` } },
        'Normal',
        foreignReason('Up'),
        'is up',
      );
    await broadcaster.flush();
    // One event was already being delivered when the queue filled up.
    expect(await stored()).toHaveLength(6);
    expect(entries.find(({ message }) => message.startsWith('Events were dropped'))?.fields).toMatchObject({
      count: 2,
    });
  });

  it('drops waiting events when it is stopped', async () => {
    const { events, broadcaster, clock, stored } = setUp([{ error: () => new Error('away') }]);
    events.event(object, 'Normal', foreignReason('Up'), 'is up');
    await settle();
    broadcaster.stop();
    await broadcaster.flush();
    events.event(object, 'Normal', foreignReason('Up'), 'is up');
    await settle();
    expect(clock.untilNext()).toBeUndefined();
    expect(await stored()).toEqual([]);
  });

  it('shortens messages the API would refuse', async () => {
    const { events, broadcaster, stored } = setUp();
    events.event(object, 'Normal', foreignReason('Up'), 'x'.repeat(5000));
    await broadcaster.flush();
    expect((await stored())[0]!.message).toHaveLength(1024);
  });
});

describe('the correlator', () => {
  const event = (message: string, reason = 'Failed'): CoreEvent => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `w.${message}`, namespace: 'team' },
    involvedObject: { kind: 'Widget', name: 'w', namespace: 'team', uid: 'u1' },
    reason,
    message,
    type: 'Warning',
    source: { component: 'c' },
  });

  it('combines the tenth similar event and those after it until ten minutes of silence', async () => {
    const clock = new ManualClock();
    const correlator = createCorrelator(clock);
    for (let i = 1; i <= 9; i++) expect(correlator.correlate(event(`attempt ${i}`)).kind).toBe('create');
    expect(correlator.correlate(event('attempt 10'))).toMatchObject({
      kind: 'create',
      event: { message: '(combined from similar events): attempt 10' },
    });
    expect(correlator.correlate(event('attempt 11'))).toMatchObject({
      kind: 'patch',
      patch: { count: 2, message: '(combined from similar events): attempt 11' },
      event: { metadata: { name: 'w.attempt 10' } },
    });
    expect(correlator.correlate(event('something else', 'Other'))).toMatchObject({
      kind: 'create',
      event: { message: 'something else' },
    });
    await clock.advance(600_001);
    expect(correlator.correlate(event('attempt 12'))).toMatchObject({
      kind: 'create',
      event: { message: 'attempt 12' },
    });
  });

  it('limits a source about one object to 25 events at once, then one in five minutes', async () => {
    const clock = new ManualClock();
    const correlator = createCorrelator(clock);
    const kinds = Array.from({ length: 30 }, () => correlator.correlate(event('same')).kind);
    expect(kinds.filter((kind) => kind === 'drop')).toHaveLength(5);
    const other = { ...event('same'), involvedObject: { kind: 'Widget', name: 'other' } };
    expect(correlator.correlate(other).kind).toBe('create');
    await clock.advance(300_000);
    expect(correlator.correlate(event('same'))).toMatchObject({ kind: 'patch', patch: { count: 31 } });
    expect(correlator.correlate(event('same')).kind).toBe('drop');
  });
});

it('bounds the memory of the correlator', () => {
  const correlator = createCorrelator(new ManualClock());
  for (let i = 0; i < 5000; i++) {
    correlator.correlate({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `e${i}` },
      involvedObject: { kind: 'Widget', name: `w${i}` },
      reason: 'r',
      message: 'm',
      type: 'Normal',
    });
  }
  // The oldest entry was dropped, so a repetition counts as new.
  const again = correlator.correlate({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'again' },
    involvedObject: { kind: 'Widget', name: 'w0' },
    reason: 'r',
    message: 'm',
    type: 'Normal',
  });
  expect(again.kind).toBe('create');
});

describe('events that are gathered', () => {
  const reason = foreignReason;
  const messages = (events: readonly CoreEvent[]): unknown[] =>
    events.map(({ reason: why, message }) => [why, message]);

  it('are one event of their object, with the newest reason', async () => {
    const { events, stored, clock } = setUp([], undefined, 2000);
    events.event(object, 'Normal', reason('CreatedPort'), 'port 1');
    await clock.advance(1500);
    events.event(object, 'Normal', reason('CreatedServer'), 'server 2');
    events.event(widget('other'), 'Normal', reason('CreatedPort'), 'port 3');
    expect(await stored()).toEqual([]);
    await clock.advance(500);
    await settle();
    expect(messages(await stored())).toEqual([['CreatedServer', 'port 1; server 2']]);
    await clock.advance(2000);
    await settle();
    expect(messages(await stored())).toContainEqual(['CreatedPort', 'port 3']);
  });

  it('are sent at once if they are warnings', async () => {
    const { events, stored } = setUp([], undefined, 2000);
    events.event(object, 'Warning', reason('Failed'), 'no cores left');
    await settle();
    expect(messages(await stored())).toEqual([['Failed', 'no cores left']]);
  });

  it('are sent once if a reconcile repeats them before its status is written', async () => {
    const { events, stored, clock } = setUp([], undefined, 2000);
    for (let i = 0; i < 4; i++) {
      events.event(object, 'Normal', reason('Joined'), 'node a');
      await clock.advance(1000);
    }
    await settle();
    expect(messages(await stored())).toEqual([['Joined', 'node a']]);
    await clock.advance(60_000);
    events.event(object, 'Normal', reason('Joined'), 'node a');
    await clock.advance(2000);
    await settle();
    expect((await stored())[0]).toMatchObject({ count: 2 });
  });

  it('fit into one message, or are several', async () => {
    const { events, stored, clock } = setUp([], undefined, 2000);
    for (const letter of ['a', 'b', 'c']) events.event(object, 'Normal', reason('Long'), letter.repeat(500));
    await clock.advance(2000);
    await settle();
    expect((await stored()).map(({ message }) => message?.length).sort()).toEqual([1002, 500]);
  });

  it('are delivered when the program stops', async () => {
    const { events, stored, broadcaster } = setUp([], undefined, 2000);
    events.event(object, 'Normal', reason('Joined'), 'node a');
    await broadcaster.flush();
    expect(messages(await stored())).toEqual([['Joined', 'node a']]);
  });
});
