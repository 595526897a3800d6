import { describe, expect, it } from 'vitest';
import type { Pod, Secret } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import { createSimulatedBackend } from '../containers/backend.ts';
import type { ObjectLookup } from './lookup.ts';
import { PodWorker, type PodWorkerParts } from './pod-worker.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u' },
  spec: {
    containers: [{ name: 'c', image: 'registry.k8s.io/pause:3.10' }],
    volumes: [{ name: 'keys', secret: { secretName: 'keys' } }],
  },
};
const keys = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: 'default' } } as Secret;

/** A worker that is synced whenever it asks for it. Start attempts are recorded with their time. */
function hosted() {
  const clock = new ManualClock(0);
  const api = { refuses: false, secret: undefined as Secret | undefined };
  const events: string[] = [];
  const tries: number[] = [];
  let syncs = 0;
  let volumesKey = '0';
  const connect = (): Client => {
    tries.push(clock.now());
    if (api.refuses) throw new Error('connect ECONNREFUSED');
    return {} as Client;
  };
  const lookup: ObjectLookup = {
    secret: async () => api.secret,
    configMap: async () => undefined,
    claim: async () => undefined,
    volume: async () => undefined,
    services: async () => [],
  };
  const backend = createSimulatedBackend({
    clock,
    random: seededRandom(1),
    network: {
      resolve: () => [],
      dial: () => {
        throw new Error('there is no network here');
      },
    },
    programs: () => () => new Promise(() => {}),
    nodeAddress: '10.0.0.1',
  });
  let cancel = (): void => {};
  const sync = (): void => {
    if (++syncs > 1_000) throw new Error('synced endlessly');
    cancel();
    const due = worker.sync(pod, volumesKey);
    if (due !== undefined) cancel = clock.after(Math.max(0, due - clock.now()), sync);
  };
  const parts: PodWorkerParts = {
    backend,
    clock,
    lookup,
    get client() {
      return connect();
    },
    nodeName: 'n',
    nodeAddress: '10.0.0.1',
    allocatable: {},
    tell: (_, ...[type, reason, message]) => events.push(`${type} ${reason}: ${message}`),
    wake: () => setImmediate(sync),
    placed: () => {},
    left: () => {},
  };
  const worker = new PodWorker(pod, parts);
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await settle();
  };
  const change = async (key: string): Promise<void> => {
    volumesKey = key;
    sync();
    await settle();
  };
  return { api, worker, events, tries, clock, sync, settle, pass, change };
}

describe('a Pod that cannot be prepared', () => {
  it('is tried again with growing pauses while the API refuses, even after one of its objects changed', async () => {
    const host = hosted();
    host.api.secret = keys;
    host.sync();
    await host.settle();
    await host.pass(10_000);
    expect(host.worker.isUp).toBe(true);
    host.tries.length = 0;

    host.api.refuses = true;
    await host.change('1');
    expect(host.tries).toEqual([10_000]);
    for (let second = 0; second < 20; second++) await host.pass(500);
    expect(host.tries).toEqual([10_000, 10_500, 11_500, 13_500, 17_500]);

    host.api.refuses = false;
    for (let second = 0; second < 20; second++) await host.pass(500);
    expect(host.tries.at(-1)).toBe(25_500);
    const tries = host.tries.length;
    await host.pass(600_000);
    expect(host.tries.length).toBe(tries);
  });

  it('waits at most two minutes between two tries', async () => {
    const host = hosted();
    host.api.refuses = true;
    host.sync();
    await host.settle();
    for (let minute = 0; minute < 60; minute++) for (let turn = 0; turn < 4; turn++) await host.pass(15_000);
    const pauses = host.tries.slice(1).map((at, index) => at - host.tries[index]!);
    expect(Math.max(...pauses)).toBe(122_000);
    expect(pauses.length).toBeLessThan(40);
  });

  it('finds what was missing at once when notified, and by itself when not', async () => {
    for (const isNotified of [true, false]) {
      const host = hosted();
      host.sync();
      await host.settle();
      await host.pass(60_000);
      expect(host.events).toContain(
        'Warning FailedMount: MountVolume.SetUp failed for volume "keys" : secret "keys" not found',
      );
      host.api.secret = keys;
      if (isNotified) await host.change('1');
      await host.pass(isNotified ? 5_000 : 130_000);
      await host.pass(5_000);
      expect(host.worker.isUp).toBe(true);
    }
  });
});
