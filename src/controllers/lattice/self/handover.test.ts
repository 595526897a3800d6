import { beforeEach, describe, expect, it } from 'vitest';
import {
  Clusters,
  type LatticeCluster,
  LatticeClusters,
  Machines,
  Namespaces,
  OpenStackClusters,
  Secrets,
} from '../../../api/index.ts';
import { type KubeObject, ManualClock, type Resource, seededRandom } from '../../../machinery/index.ts';
import { type MemoryClient, memoryClient } from '../../../runtime/testkit/index.ts';
import { pausedAnnotation } from '../../shared/index.ts';
import { handOver, type Sides, takeBack } from './handover.ts';

const namespace = 'capi-one';
const credentials = { namespace: 'capo-system', name: 'openstack-cloud-config' };
const clock = new ManualClock(0);
const random = seededRandom(9);
const kinds: readonly Resource<KubeObject>[] = [Clusters, OpenStackClusters, Machines, Secrets] as never;
const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'apply', 'delete']);
const initialized = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } };

interface Given {
  readonly name: string;
  readonly in?: string;
  readonly owner?: KubeObject;
  readonly spec?: object;
  readonly status?: object;
  readonly data?: object;
}

describe('the handover of a cluster', () => {
  let parent: MemoryClient;
  let child: MemoryClient;
  let cluster: LatticeCluster;

  const put = <T extends KubeObject>(
    client: MemoryClient,
    resource: Resource<T>,
    { name, in: home = namespace, owner, ...rest }: Given,
  ): T =>
    client.seed(resource, {
      apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
      kind: resource.kind,
      metadata: {
        name,
        ...(resource.namespaced && { namespace: home }),
        ...(owner && {
          finalizers: ['test/held'],
          ownerReferences: [
            { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid },
          ],
        }),
      },
      ...rest,
    } as never);

  const begin = (): void => {
    parent = memoryClient({ clock, random: seededRandom(1) });
    child = memoryClient({ clock, random: seededRandom(2) });
    for (const client of [parent, child]) put(client, Namespaces, { name: 'kube-system' });
    for (const name of [namespace, credentials.namespace]) put(parent, Namespaces, { name });
    put(parent, Secrets, { name: credentials.name, in: credentials.namespace, data: { 'clouds.yaml': 'eA==' } });
    const spec = { provider: {}, nodes: { controlPlane: 1 }, endpoints: {} };
    cluster = put(parent, LatticeClusters, { name: 'one', spec });
    const made = put(parent, Clusters, { name: 'one', spec: {}, status: initialized, owner: cluster });
    put(parent, OpenStackClusters, { name: 'one', spec: {}, owner: made });
    put(parent, Machines, { name: 'one-1', spec: {}, status: { nodeRef: { name: 'n' } }, owner: made });
    put(parent, Secrets, { name: 'one-ca', data: { 'tls.key': 'eA==' } });
  };
  beforeEach(begin);

  const names = async (client: MemoryClient): Promise<string[]> => {
    const lists = await Promise.all(
      kinds.map(async (resource) =>
        (await client.list(resource, { namespace })).items.map(({ metadata }) => `${resource.kind} ${metadata.name}`),
      ),
    );
    return lists.flat().sort();
  };
  const all = ['Cluster one', 'Machine one-1', 'OpenStackCluster one', 'Secret one-ca'];

  const insideOf = async (client: MemoryClient): Promise<LatticeCluster | undefined> =>
    (await client.list(LatticeClusters)).items[0];
  const isActive = ({ metadata }: KubeObject): boolean => metadata.annotations?.[pausedAnnotation] === undefined;
  const active = async (client: MemoryClient): Promise<boolean> =>
    (await client.list(Clusters, { namespace })).items.some(isActive);

  /** Checks that at most one side is active, and that an active child has all objects. */
  const checkOwners = async (): Promise<void> => {
    const owners = [await active(parent), await active(child)].filter((isOwner) => isOwner);
    expect(owners.length, 'owners').toBeLessThanOrEqual(1);
    const inside = await insideOf(child);
    if (!inside || !isActive(inside)) return;
    expect((await parent.list(Clusters, { namespace })).items, 'left in the parent').toEqual([]);
    expect(await names(child)).toEqual(all);
  };

  /** Sides of a process that stops at a given write; owners are checked after each write. */
  const mortal = (at: number): { sides: Sides; count(): number } => {
    let count = 0;
    const watched = (client: MemoryClient): MemoryClient =>
      new Proxy(client, {
        get(over, name, receiver) {
          const member = Reflect.get(over, name, receiver);
          if (!writes.has(String(name))) return member;
          return async (...args: unknown[]) => {
            count += 1;
            if (count >= at) throw new Error('killed');
            const answer = await (member as (...given: unknown[]) => Promise<unknown>).apply(over, args);
            await checkOwners();
            return answer;
          };
        },
      });
    const signal = new AbortController().signal;
    return { sides: { parent: watched(parent), child: watched(child), clock, random, signal }, count: () => count };
  };

  /** Simulates the controllers in the cluster: sets Paused. */
  const childSees = async (): Promise<void> => {
    const inside = await insideOf(child);
    if (!inside) return;
    const conditions = [{ type: 'Paused', status: isActive(inside) ? 'False' : 'True' }];
    await child.patch(
      LatticeClusters,
      { name: 'one' },
      'merge',
      { status: { conditions } },
      {
        fieldManager: 'test',
        subresource: 'status',
      },
    );
  };

  const toTheEnd = async (step: () => Promise<string | undefined>): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      if ((await step()) === undefined) return;
      await childSees();
    }
    throw new Error('it does not end');
  };
  const pivot = ({ sides }: { sides: Sides }): Promise<void> => toTheEnd(() => handOver(sides, cluster, credentials));
  const unpivot = ({ sides }: { sides: Sides }): Promise<void> => toTheEnd(() => takeBack(sides, cluster));
  const whole = (): { sides: Sides; count(): number } => mortal(Number.POSITIVE_INFINITY);

  it('moves everything, owned by its own LatticeCluster, with its credentials', async () => {
    await pivot(whole());
    expect(await names(child)).toEqual(all);
    expect(await names(parent)).toEqual([]);
    const inside = await insideOf(child);
    expect(inside?.metadata.annotations).toEqual({ 'lattice.dev/parent': expect.any(String) });
    const made = await child.get(Clusters, { namespace, name: 'one' });
    expect(made.metadata.ownerReferences?.[0]?.uid).toBe(inside?.metadata.uid);
    expect((await child.get(Secrets, credentials)).data).toEqual({ 'clouds.yaml': 'eA==' });
  });

  it('waits for the controllers in the cluster before it moves anything', async () => {
    const { sides } = whole();
    for (let round = 0; round < 3; round++) {
      expect(await handOver(sides, cluster, credentials)).toContain('have not seen it yet');
    }
    expect(await names(parent)).toEqual(all);
    expect(await active(parent)).toBe(true);
  });

  it('continues after a kill at any write, with at most one owner after each', async () => {
    const counted = whole();
    await pivot(counted);
    expect(counted.count()).toBeGreaterThan(15);
    for (let at = 1; at <= counted.count(); at++) {
      begin();
      await expect(pivot(mortal(at)), `write ${at}`).rejects.toThrow('killed');
      await pivot(whole());
      expect(await names(child), `write ${at}`).toEqual(all);
      expect(await names(parent), `write ${at}`).toEqual([]);
    }
  });

  it('back to the parent continues after a kill at any write', async () => {
    await pivot(whole());
    const counted = whole();
    await unpivot(counted);
    for (let at = 1; at <= counted.count(); at++) {
      begin();
      await pivot(whole());
      await expect(unpivot(mortal(at)), `write ${at}`).rejects.toThrow('killed');
      await unpivot(whole());
      expect(await names(parent), `write ${at}`).toEqual(all);
      expect(await names(child), `write ${at}`).toEqual([]);
      const made = await parent.get(Clusters, { namespace, name: 'one' });
      expect(made.metadata.ownerReferences?.[0]?.uid).toBe(cluster.metadata.uid);
      expect(isActive(made)).toBe(true);
      // the copy inside must not create the cluster again
      const inside = await insideOf(child);
      expect(inside && isActive(inside)).toBe(false);
    }
  });

  it('back to the parent works for deletion even when the cluster is broken', async () => {
    await pivot(whole());
    put(child, Machines, { name: 'late', spec: {} });
    await unpivot(whole());
    expect(await names(parent)).toContain('Machine late');
  });

  it('is refused to a second parent, in both directions', async () => {
    await pivot(whole());
    const mine = parent;
    const other = memoryClient({ clock, random: seededRandom(3) });
    put(other, Namespaces, { name: 'kube-system' });
    parent = other;
    await expect(pivot(whole())).rejects.toThrow('belongs to another parent');
    await expect(unpivot(whole())).rejects.toThrow('belongs to another parent');
    expect(other.writes()).toEqual([]);
    parent = mine;
    expect(await names(child)).toEqual(all);
  });

  it('includes a spec that was changed before it began', async () => {
    const { sides } = whole();
    await handOver(sides, cluster, credentials);
    cluster = { ...cluster, spec: { ...cluster.spec, environment: 'later' } };
    await pivot(whole());
    expect((await insideOf(child))?.spec.environment).toBe('later');
  });
});
