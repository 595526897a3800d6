import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpClient, httpClient, loadKubeconfig } from '../client/index.ts';
import {
  type Condition,
  clone,
  type KubeObject,
  type Resource,
  systemClock,
  systemRandom,
  withCondition,
} from '../machinery/index.ts';
import { foreignReason } from './events/reasons.ts';
import { createEventBroadcaster } from './events/recorder.ts';
import { CoreEvents } from './events/types.ts';
import { runWithLease } from './leader-election.ts';
import { Leases } from './lease.ts';
import { memoryLogger } from './log.ts';
import { patchObject } from './status/patch-object.ts';

// Requires a real kube-apiserver: set CAPSTAN_REAL_KUBECONFIG to a kubeconfig with cluster-admin rights.
const kubeconfig = process.env['CAPSTAN_REAL_KUBECONFIG'];

interface Namespace extends KubeObject {
  status?: { phase?: string; conditions?: Condition[] };
}
const namespaces: Resource<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
const by = { fieldManager: 'capstan-runtime-test' };
const name = `capstan-runtime-${systemRandom.text(5)}`;

describe.skipIf(kubeconfig === undefined)('against a real kube-apiserver (CAPSTAN_REAL_KUBECONFIG)', () => {
  let client: HttpClient;
  let namespace: Namespace;
  beforeAll(async () => {
    client = httpClient(await loadKubeconfig({ path: kubeconfig!, env: process.env }));
    namespace = await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, by);
  });
  afterAll(async () => {
    await client.delete(namespaces, { name });
    await client.close();
  });

  it('takes, renews and releases a lease', async () => {
    const { logger, entries } = memoryLogger();
    const stop = new AbortController();
    const lease = { namespace: name, name: 'leader' };
    const outcome = await runWithLease(
      { client, clock: systemClock, random: systemRandom, log: logger, ...lease, identity: 'me', retryPeriodMs: 50 },
      async () => {
        const first = await client.get(Leases, lease);
        expect(first.spec).toMatchObject({ holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 0 });
        for await (const { object } of client.watch(Leases, {
          namespace: name,
          resourceVersion: first.metadata.resourceVersion!,
        })) {
          expect(object.spec!.renewTime! > first.spec!.renewTime!).toBe(true);
          expect(object.spec!.acquireTime).toBe(first.spec!.acquireTime);
          break;
        }
        stop.abort();
      },
      stop.signal,
    );
    expect(outcome).toBe('stopped');
    expect((await client.get(Leases, lease)).spec).toMatchObject({ leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect((await client.get(Leases, lease)).spec?.holderIdentity ?? '').toBe('');
    expect(entries.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('records events and counts repetitions', async () => {
    const { logger, entries } = memoryLogger();
    const broadcaster = createEventBroadcaster({
      client,
      clock: systemClock,
      random: systemRandom,
      log: logger,
      instance: 'test',
    });
    const events = broadcaster.recorder('capstan-test');
    const subject = { ...namespace, metadata: { ...namespace.metadata, namespace: name } };
    for (let i = 0; i < 3; i++)
      events.event(subject, 'Warning', foreignReason('Tested'), 'it was tested', { action: 'Test' });
    await broadcaster.flush();
    const { items } = await client.list(CoreEvents, { namespace: name, fieldSelector: 'reason=Tested' });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      count: 3,
      type: 'Warning',
      message: 'it was tested',
      reportingComponent: 'capstan-test',
    });
    expect(entries).toEqual([]);
  });

  it('writes labels and conditions, and nothing when nothing changed', async () => {
    const before = await client.get(namespaces, { name });
    const draft = clone(before);
    draft.metadata.labels = { ...draft.metadata.labels, tested: 'yes' };
    const tested = { type: 'Tested', status: 'True', reason: 'Done', message: '' } as const;
    draft.status = {
      ...draft.status,
      conditions: [...withCondition(before.status?.conditions, tested, systemClock.now())],
    };
    const options = { ...by, clock: systemClock };
    const stored = await patchObject(client, namespaces, before, draft, options);
    expect(stored.metadata.labels).toMatchObject({ tested: 'yes' });
    expect(stored.status?.conditions?.map(({ type, status }) => [type, status])).toEqual([['Tested', 'True']]);
    expect(await patchObject(client, namespaces, stored, clone(stored), options)).toBe(stored);
  });
});
