import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Node, Nodes, type Pod, Pods, PriorityClasses, ReplicaSets } from '../api/index.ts';
import type { SimulatedProgram } from '../simkube/index.ts';
import { by, container, type HostWorld, hostWorld, isReady, namespace, untilStopped } from './testing/host-world.ts';

const stays: SimulatedProgram = async ({ signal }) => {
  await untilStopped(signal);
  return 0;
};

let world: HostWorld;
beforeEach(async () => {
  world = await hostWorld();
  world.use({ app: stays });
  await resize({ cpu: '4', memory: '8Gi', pods: '110' });
});
afterEach(() => world.stop());

/** Changes the size of the only node. */
async function resize(allocatable: Record<string, string>): Promise<void> {
  const patch = { status: { allocatable: { 'ephemeral-storage': null, ...allocatable } } };
  await world.client.patch(Nodes, { name: world.nodeName }, 'merge', patch, { ...by, subresource: 'status' });
}

const asking = (requests: Record<string, string>, more: Partial<Pod['spec']> = {}): Pod['spec'] => ({
  containers: [{ ...container(), resources: { requests } }],
  ...more,
});

const opening = (hostPort: number, hostIP?: string, protocol = 'TCP'): Pod['spec'] => ({
  containers: [{ ...container(), ports: [{ containerPort: 80, hostPort, protocol, ...(hostIP && { hostIP }) }] }],
});

const unscheduled = ({ status }: Pod) =>
  status?.conditions?.find(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable');
const whyNot = async (name: string): Promise<string | undefined> =>
  unscheduled(await world.podUntil(name, (pod) => unscheduled(pod) !== undefined))?.message;

const noVictims = 'preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.';
const notHelpful = 'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';

describe('a Pod that asks for more than is left', () => {
  it('waits, says why in an event, and is placed when there is room', async () => {
    await world.createPod('first', asking({ cpu: '3' }));
    await world.podUntil('first', isReady);
    await world.createPod('second', asking({ cpu: '1500m', memory: '9Gi' }));
    const message = `0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. no new claims to deallocate, ${noVictims}`;
    expect(await whyNot('second')).toBe(message);
    const failed = (await world.events('second')).filter(({ reason }) => reason === 'FailedScheduling');
    expect(failed.map((event) => event.message)).toEqual([message]);
    await resize({ cpu: '8', memory: '16Gi', pods: '110' });
    await world.podUntil('second', isReady);
  });

  it('is not taken by the node when somebody else has placed it there', async () => {
    await world.createPod('first', asking({ cpu: '3' }));
    await world.podUntil('first', isReady);
    await world.createPod('second', asking({ cpu: '1500m' }, { nodeName: world.nodeName }));
    const { status, metadata } = await world.podUntil('second', (pod) => pod.status?.phase === 'Failed');
    const message = "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000";
    expect(status).toMatchObject({
      reason: 'OutOfcpu',
      message: `Pod was rejected: ${message}`,
      observedGeneration: metadata.generation,
    });
    expect(status?.containerStatuses).toBeUndefined();
    expect((await world.events('second')).map((event) => event.message)).toEqual([message]);
    await world.createPod('third', { ...opening(8080), nodeName: world.nodeName });
    await world.podUntil('third', isReady);
    await world.createPod('fourth', { ...opening(8080), nodeName: world.nodeName });
    const fourth = await world.podUntil('fourth', (pod) => pod.status?.phase === 'Failed');
    expect(fourth.status?.reason).toBe('NodePorts');
    // Finished and deleted Pods do not use capacity.
    await world.client.delete(Pods, { namespace, name: 'third' });
    await world.until(async () => (await world.find(Pods, 'third')) === undefined);
    await world.createPod('fifth', { ...opening(8080), nodeName: world.nodeName });
    await world.podUntil('fifth', isReady);
  });

  it('is placed when another Pod is gone', async () => {
    await world.createPod('first', asking({ cpu: '3' }));
    await world.podUntil('first', isReady);
    await world.createPod('second', asking({ cpu: '2' }));
    await whyNot('second');
    await world.client.delete(Pods, { namespace, name: 'first' });
    await world.podUntil('second', isReady);
  });

  it('waits when the node already has as many Pods as it may', async () => {
    await resize({ cpu: '4', memory: '8Gi', pods: '1' });
    await world.createPod('first', asking({}));
    await world.podUntil('first', isReady);
    await world.createPod('second', asking({}));
    expect(await whyNot('second')).toContain('1 Too many pods');
  });
});

describe('many Pods of one owner', () => {
  it('are told one by one that there is no room, and placed as room appears', async () => {
    await resize({ cpu: '2', memory: '8Gi', pods: '110' });
    const labels = { app: 'many' };
    await world.client.create(
      ReplicaSets,
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'many', namespace },
        spec: {
          replicas: 5,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: asking({ cpu: '1' }) },
        },
      },
      by,
    );
    const all = async (): Promise<Pod[]> => (await world.client.list(Pods, { namespace })).items;
    const waiting = async (): Promise<Pod[]> => (await all()).filter((pod) => unscheduled(pod) !== undefined);
    await world.until(async () => (await waiting()).length === 3);
    const message = `0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, ${noVictims}`;
    expect((await waiting()).map((pod) => unscheduled(pod)?.message)).toEqual([message, message, message]);
    await resize({ cpu: '4', memory: '8Gi', pods: '110' });
    await world.until(async () => (await waiting()).length === 1);
  });
});

describe('ports of the host', () => {
  it('belong to one Pod only, unless address or protocol differ', async () => {
    await world.createPod('first', opening(8080, '127.0.0.1'));
    await world.createPod('udp', opening(8080, '127.0.0.1', 'UDP'));
    await world.createPod('other', opening(8080, '127.0.0.2'));
    for (const name of ['first', 'udp', 'other']) await world.podUntil(name, isReady);
    await world.createPod('all', opening(8080));
    expect(await whyNot('all')).toContain(
      "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
    );
  });
});

describe('nodes that do not fit a Pod', () => {
  it('are counted by reason', async () => {
    await world.createPod('p', { ...asking({}), nodeSelector: { disk: 'fast' } });
    expect(await whyNot('p')).toBe(
      `0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, ${notHelpful}`,
    );
    const other: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'tainted' } };
    await world.client.create(
      Nodes,
      { ...other, spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] } },
      by,
    );
    await world.podUntil('p', (pod) => unscheduled(pod)?.message?.startsWith('0/2') === true);
    expect(await whyNot('p')).toContain(
      "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {k: v}.",
    );
  });
});

describe('a Pod of higher priority', () => {
  beforeEach(async () => {
    for (const [name, value, preemptionPolicy] of [
      ['high', 1000, 'PreemptLowerPriority'],
      ['polite', 1000, 'Never'],
    ] as const) {
      const definition = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name } };
      await world.client.create(PriorityClasses, { ...definition, value, preemptionPolicy }, by);
    }
  });

  it('preempts as few other Pods as necessary', async () => {
    await world.createPod('large', asking({ cpu: '2' }));
    await world.createPod('small', asking({ cpu: '1' }));
    for (const name of ['large', 'small']) await world.podUntil(name, isReady);
    await world.createPod('urgent', asking({ cpu: '3' }, { priorityClassName: 'high' }));
    const placed = await world.podUntil('urgent', isReady);
    expect(placed.spec.nodeName).toBe(world.nodeName);
    expect((await world.pod('small')).status?.phase).toBe('Running');
    expect((await world.events('large')).map(({ reason }) => reason)).toContain('Preempted');
    await expect(world.pod('large')).rejects.toThrow('not found');
  });

  it('waits when its policy forbids preemption', async () => {
    await world.createPod('large', asking({ cpu: '3' }));
    await world.podUntil('large', isReady);
    await world.createPod('urgent', asking({ cpu: '3' }, { priorityClassName: 'polite' }));
    expect(await whyNot('urgent')).toContain('preemption: not eligible due to preemptionPolicy=Never.');
    expect((await world.pod('large')).metadata.deletionTimestamp).toBeUndefined();
  });
});
