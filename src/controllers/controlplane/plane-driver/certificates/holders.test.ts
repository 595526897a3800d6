import { describe, expect, it } from 'vitest';
import { clusterNameLabel, type Machine } from '../../../../api/index.ts';
import { ManualClock } from '../../../../machinery/index.ts';
import { WorkloadNotConnectedError } from '../../../shared/index.ts';
import type { PlaneScope } from '../scope.ts';
import { oldCertificateHolders } from './holders.ts';

const settled = Date.parse('2026-05-01T12:00:00Z');
const machine = (node: string | undefined, creationTimestamp: string, cluster = 'c1'): Machine =>
  ({
    metadata: {
      name: `m-${node ?? 'new'}`,
      namespace: 'ns',
      creationTimestamp,
      labels: { [clusterNameLabel]: cluster },
    },
    status: node === undefined ? {} : { nodeRef: { name: node } },
  }) as Partial<Machine> as Machine;

interface Surroundings {
  nodes: string[] | Error;
  machines?: Machine[];
  isStandalone?: boolean;
}

function scopeOf({ nodes, machines = [], isStandalone = false }: Surroundings): PlaneScope & { asked: number } {
  const clock = new ManualClock();
  const objects = (): { metadata: { name: string } }[] => {
    if (nodes instanceof Error) throw nodes;
    return nodes.map((name) => ({ metadata: { name } }));
  };
  const scope = {
    asked: 0,
    memory: {},
    dependencies: { workloads: { nodes: () => ({ list: objects }) } },
    request: {
      ...(!isStandalone && { cluster: { metadata: { name: 'c1', namespace: 'ns' } } }),
      workload: () => ({
        list: async () => {
          scope.asked++;
          return { items: objects() };
        },
      }),
      context: {
        clock,
        signal: new AbortController().signal,
        cache: {
          lister: () => ({
            list: ({ filter }: { filter: (one: Machine) => boolean }) => machines.filter(filter),
          }),
        },
      },
    },
  };
  return scope as unknown as PlaneScope & { asked: number };
}

describe('kubelets that may present certificates of the old authority', () => {
  it.each<[string, Surroundings, number | undefined]>([
    ['nobody', { nodes: [] }, 0],
    ['nodes nobody knows a machine of', { nodes: ['a', 'b'] }, 2],
    ['one of a machine that was there before', { nodes: ['a'], machines: [machine('a', '2026-05-01T12:00:00Z')] }, 1],
    ['none of machines made since', { nodes: ['a'], machines: [machine('a', '2026-05-01T12:00:01Z')] }, 0],
    ['one of another cluster', { nodes: ['a'], machines: [machine('a', '2026-05-02T00:00:00Z', 'c2')] }, 1],
    ['one that is on its way since before', { nodes: [], machines: [machine(undefined, '2026-05-01T11:59:00Z')] }, 1],
    ['none of those on their way since', { nodes: [], machines: [machine(undefined, '2026-05-01T12:01:00Z')] }, 0],
    ['nobody can tell', { nodes: new WorkloadNotConnectedError({ name: 'c1' }, undefined) }, undefined],
  ])('are: %s', async (_, surroundings, expected) => {
    expect(await oldCertificateHolders(scopeOf(surroundings), settled)).toBe(expected);
  });

  it('of a plane without a Cluster are counted only once in a while', async () => {
    const scope = scopeOf({ nodes: ['a'], isStandalone: true });
    expect(await oldCertificateHolders(scope, settled)).toBe(1);
    expect(await oldCertificateHolders(scope, settled)).toBe(1);
    expect(scope.asked).toBe(1);
  });
});
