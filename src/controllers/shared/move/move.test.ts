import { beforeEach, describe, expect, it } from 'vitest';
import { Clusters, ConfigMaps, Machines, Namespaces, OpenStackClusters, Secrets } from '../../../api/index.ts';
import { type KubeObject, ManualClock, type Resource, seededRandom } from '../../../machinery/index.ts';
import { type MemoryClient, memoryClient } from '../../../runtime/testkit/index.ts';
import { hostedPlaneKinds } from './movable-kinds.ts';
import { cancelMove, type MoveOptions, moveNamespace, planMove } from './move.ts';

const namespace = 'team';
const paused = 'cluster.x-k8s.io/paused';

interface Interruption {
  /** index of the first failing write, from 1; all later ones fail, too, as after a crash */
  readonly at: number;
}

describe('a move of clusters', () => {
  let source: MemoryClient;
  let target: MemoryClient;
  const clock = new ManualClock(0);

  const put = <T extends KubeObject>(
    client: MemoryClient,
    resource: Resource<T>,
    {
      owner,
      ...object
    }: { name: string; spec?: object; status?: object; data?: object; labels?: object; owner?: KubeObject },
  ): T => {
    const { name, labels, ...rest } = object;
    const ownerReferences = owner && [
      {
        apiVersion: owner.apiVersion,
        kind: owner.kind,
        name: owner.metadata.name!,
        uid: owner.metadata.uid!,
        controller: true,
      },
    ];
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    return client.seed(resource, {
      apiVersion,
      kind: resource.kind,
      metadata: {
        name,
        ...(resource.namespaced && { namespace }),
        ...(labels && { labels }),
        ...(ownerReferences && { ownerReferences, finalizers: ['test/held'] }),
      },
      ...rest,
    } as never);
  };

  const initialized = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } };

  const begin = (): void => {
    source = memoryClient({ clock, random: seededRandom(1) });
    target = memoryClient({ clock, random: seededRandom(2) });
    for (const client of [source, target]) put(client, Namespaces, { name: 'kube-system' });
    put(source, Namespaces, { name: namespace });
    const cluster = put(source, Clusters, { name: 'one', spec: {}, status: initialized });
    put(source, OpenStackClusters, {
      name: 'one',
      spec: { identityRef: { name: 'cloud-config', cloudName: 'openstack' } },
      status: { ready: true },
      owner: cluster,
    });
    const machine = put(source, Machines, {
      name: 'one-1',
      spec: { clusterName: 'one' },
      status: { nodeRef: { name: 'n' } },
      owner: cluster,
    });
    put(source, Secrets, { name: 'one-1-bootstrap', data: { value: 'eA==' }, owner: machine });
    put(source, Secrets, { name: 'one-ca', data: { 'tls.key': 'eA==' } });
    put(source, Secrets, { name: 'cloud-config', data: { 'clouds.yaml': 'eA==' } });
    put(source, Secrets, { name: 'unrelated', data: {} });
  };
  beforeEach(begin);

  const options = (): MoveOptions => ({
    source,
    target,
    namespace,
    clock,
    signal: new AbortController().signal,
    newId: () => 'move-1',
    onProgress: () => {},
  });

  const kinds: readonly Resource<KubeObject>[] = [Clusters, OpenStackClusters, Machines, Secrets, ConfigMaps] as never;
  const namesIn = async (client: MemoryClient): Promise<string[]> => {
    const lists = await Promise.all(
      kinds.map(async (resource) =>
        (await client.list(resource, { namespace })).items.map(({ metadata }) => `${resource.kind} ${metadata.name}`),
      ),
    );
    return lists.flat().sort();
  };
  const all = [
    'Cluster one',
    'Machine one-1',
    'OpenStackCluster one',
    'Secret cloud-config',
    'Secret one-1-bootstrap',
    'Secret one-ca',
  ];

  const expectMoved = async (): Promise<void> => {
    expect(await namesIn(target)).toEqual(all);
    expect(await namesIn(source)).toEqual(['Secret cloud-config', 'Secret unrelated']);
    const cluster = await target.get(Clusters, { namespace, name: 'one' });
    const machine = await target.get(Machines, { namespace, name: 'one-1' });
    expect(machine.metadata.ownerReferences?.[0]?.uid).toBe(cluster.metadata.uid);
    expect(machine).toMatchObject({ status: { nodeRef: { name: 'n' } }, metadata: { finalizers: ['test/held'] } });
    for (const resource of kinds) {
      for (const { metadata } of (await target.list(resource, { namespace })).items) {
        expect(Object.keys(metadata.annotations ?? {}), `${resource.kind} ${metadata.name}`).toEqual([]);
      }
    }
  };

  it('moves all objects of the clusters with status and owners, and leaves the rest', async () => {
    await moveNamespace(options());
    await expectMoved();
  });

  it('reports what it would do without changing anything in a dry run', async () => {
    const plan = await planMove(options());
    expect(
      plan.map(({ object, isCopied }) => `${object.kind} ${object.metadata.name}${isCopied ? ' copied' : ''}`).sort(),
    ).toEqual(all.map((name) => (name === 'Secret cloud-config' ? `${name} copied` : name)));
    expect([...source.writes(), ...target.writes()]).toEqual([]);
  });

  /** Builds clients of a process that crashes at a given write. */
  const mortal = ({ at }: Interruption): { options: MoveOptions; writes(): number } => {
    let count = 0;
    const mortalClient = (client: MemoryClient): MemoryClient =>
      new Proxy(client, {
        get(over, name, receiver) {
          const member = Reflect.get(over, name, receiver);
          if (!['create', 'update', 'patch', 'apply', 'delete'].includes(String(name))) return member;
          return async (...args: unknown[]) => {
            count += 1;
            if (count >= at) throw new Error('killed');
            return await (member as (...given: unknown[]) => Promise<unknown>).apply(over, args);
          };
        },
      });
    return {
      options: { ...options(), source: mortalClient(source), target: mortalClient(target) },
      writes: () => count,
    };
  };

  const isPausedIn = async (client: MemoryClient): Promise<boolean> => {
    const found = await client.list(Clusters, { namespace });
    return found.items.every(({ metadata }) => metadata.annotations?.[paused] !== undefined);
  };

  it('continues after a kill at any write, and no cluster is acted on twice meanwhile', async () => {
    const whole = mortal({ at: Number.POSITIVE_INFINITY });
    await moveNamespace(whole.options);
    for (let at = 1; at <= whole.writes(); at++) {
      begin();
      await expect(moveNamespace(mortal({ at }).options), `write ${at}`).rejects.toThrow('killed');
      const inTarget = (await target.list(Clusters, { namespace })).items.length > 0;
      const inSource = (await source.list(Clusters, { namespace })).items.length > 0;
      if (inTarget && inSource) {
        expect([await isPausedIn(source), await isPausedIn(target)], `write ${at}`).toEqual([true, true]);
      }
      await moveNamespace(options());
      await expectMoved();
    }
  });

  it('can be cancelled after a kill at any write until the handover', async () => {
    let cancelled = 0;
    for (let at = 1; at < 200; at++) {
      begin();
      const before = await namesIn(source);
      const ended = await moveNamespace(mortal({ at }).options).then(
        () => true,
        () => false,
      );
      if (ended) break;
      const record = await source.get(ConfigMaps, { namespace, name: 'capstan-move' }).catch(() => undefined);
      if (record?.data?.['phase'] !== 'preparing') continue;
      await cancelMove(options());
      cancelled += 1;
      expect(await namesIn(source)).toEqual(before);
      expect(await namesIn(target)).toEqual([]);
      expect(await isPausedIn(source)).toBe(false);
    }
    expect(cancelled).toBeGreaterThan(5);
  });

  it.each([
    [
      'a machine without a Node',
      () => put(source, Machines, { name: 'late', spec: {} }),
      'Machine team/late has no Node yet',
    ],
    [
      'a cluster that is not there yet',
      () => put(source, Clusters, { name: 'new', spec: {} }),
      'Cluster team/new has no infrastructure yet',
    ],
    [
      'a paused cluster',
      () => put(source, Clusters, { name: 'p', spec: { paused: true }, status: initialized }),
      'Cluster team/p is paused',
    ],
    [
      'an object that is in the target',
      () => put(target, Machines, { name: 'one-1', spec: {} }),
      'Machine team/one-1 is already in the target',
    ],
  ])('is refused for %s, before anything is changed', async (_, arrange, why) => {
    arrange();
    await expect(moveNamespace(options())).rejects.toThrow(why);
    expect([...source.writes(), ...target.writes()]).toEqual([]);
  });

  it('is refused for hosted planes, whose data cannot be moved', async () => {
    const resource = hostedPlaneKinds.find(({ kind }) => kind === 'HostedControlPlane')!;
    put(source, resource, { name: 'plane', spec: {} });
    await expect(moveNamespace(options())).rejects.toThrow('HostedControlPlane team/plane runs as Pods');
  });

  it('is refused for hosted planes even when a forged record says it is under way', async () => {
    const resource = hostedPlaneKinds.find(({ kind }) => kind === 'HostedControlPlane')!;
    put(source, resource, { name: 'plane', spec: {} });
    put(target, Machines, { name: 'one-1', spec: {} });
    const { uid = '' } = (await target.get(Namespaces, { name: 'kube-system' })).metadata;
    put(source, ConfigMaps, { name: 'capstan-move', data: { id: 'forged', target: uid, phase: 'preparing' } });
    const why = /HostedControlPlane team\/plane runs as Pods.*Machine team\/one-1 is already in the target/;
    await expect(planMove(options())).rejects.toThrow(why);
    await expect(moveNamespace(options())).rejects.toThrow(why);
    expect([...source.writes(), ...target.writes()]).toEqual([]);
  });

  it('deletes nothing that the target does not have', async () => {
    const record = { id: 'forged', target: '', phase: 'handing-over' };
    const { uid = '' } = (await target.get(Namespaces, { name: 'kube-system' })).metadata;
    put(source, ConfigMaps, { name: 'capstan-move', data: { ...record, target: uid } });
    const before = (await namesIn(source)).filter((name) => name !== 'ConfigMap capstan-move');
    await moveNamespace(options());
    expect(await namesIn(source)).toEqual(before);
  });

  it('is refused while a move to another target is under way', async () => {
    await expect(moveNamespace(mortal({ at: 4 }).options)).rejects.toThrow('killed');
    const third = memoryClient({ clock, random: seededRandom(3) });
    put(third, Namespaces, { name: 'kube-system' });
    await expect(moveNamespace({ ...options(), target: third })).rejects.toThrow('to another target is under way');
  });
});
