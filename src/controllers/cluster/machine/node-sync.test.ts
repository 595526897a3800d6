import { describe, expect, it } from 'vitest';
import type { Machine, MachineDeployment, MachineSet, Node } from '../../../api/index.ts';
import { applyMergePatch, asJson, asTyped } from '../../../machinery/index.ts';
import { type NodeSyncInput, nodePatch } from './node-sync.ts';

const machine = (labels: Record<string, string>, taints: Machine['spec']['taints'] = []): Machine =>
  ({
    metadata: { name: 'm', namespace: 'ns', labels, annotations: { 'node.cluster.x-k8s.io/a': '1', other: '2' } },
    spec: { clusterName: 'c', taints },
  }) as unknown as Machine;
const node = (more: Partial<Node> = {}): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, ...more });
const revision = (number: number) => ({
  metadata: { annotations: { 'machinedeployment.clusters.x-k8s.io/revision': String(number) } },
});
const input = (given: Node, of: Machine, more: Partial<NodeSyncInput> = {}): NodeSyncInput => ({
  node: given,
  machine: of,
  machineSet: undefined,
  machineDeployment: undefined,
  interruptible: false,
  ...more,
});
const synced = (given: NodeSyncInput): Node => {
  const patch = nodePatch(given);
  return patch ? asTyped<Node>(applyMergePatch(asJson(given.node), patch)) : given.node;
};

describe('Node synchronization', () => {
  it('sets labels of known domains and removes labels that the machine lost', () => {
    const first = synced(
      input(node(), machine({ 'node-role.kubernetes.io/worker': '', 'gpu.node.cluster.x-k8s.io/x': '1', app: 'y' })),
    );
    expect(first.metadata.labels).toEqual({ 'node-role.kubernetes.io/worker': '', 'gpu.node.cluster.x-k8s.io/x': '1' });
    expect(first.metadata.annotations).toMatchObject({
      'node.cluster.x-k8s.io/a': '1',
      'cluster.x-k8s.io/annotations-from-machine': 'node.cluster.x-k8s.io/a',
    });
    expect(first.metadata.annotations).not.toHaveProperty('other');
    const second = synced(
      input(
        { ...first, metadata: { ...first.metadata, labels: { ...first.metadata.labels, mine: 'z' } } },
        machine({ 'node-role.kubernetes.io/worker': '' }),
      ),
    );
    expect(second.metadata.labels).toEqual({ 'node-role.kubernetes.io/worker': '', mine: 'z' });
    expect(nodePatch(input(second, machine({ 'node-role.kubernetes.io/worker': '' })))).toBeUndefined();
  });

  it('sets additional labels and the label of interruptible machines', () => {
    const labels = synced(
      input(node(), machine({ 'x.example/y': '1' }), { additionalLabels: [/^x\.example\//], interruptible: true }),
    ).metadata.labels;
    expect(labels).toEqual({ 'x.example/y': '1', 'cluster.x-k8s.io/interruptible': '' });
  });

  it('removes the uninitialized taint, keeps foreign taints, and syncs those of the machine', () => {
    const begin = node({
      spec: {
        taints: [
          { key: 'node.cluster.x-k8s.io/uninitialized', effect: 'NoSchedule' },
          { key: 'own', effect: 'NoExecute' },
        ],
      },
    });
    const always = { key: 'a', value: '1', effect: 'NoSchedule', propagation: 'Always' } as const;
    const once = { key: 'b', effect: 'NoSchedule', propagation: 'OnInitialization' } as const;
    const first = synced(input(begin, machine({}, [always, once])));
    expect(first.spec?.taints?.map(({ key }) => key)).toEqual(['own', 'a', 'b']);
    const without = { ...first, spec: { taints: first.spec?.taints?.filter(({ key }) => key !== 'b') ?? [] } };
    expect(synced(input(without, machine({}, [{ ...always, value: '2' }, once]))).spec?.taints).toEqual([
      { key: 'own', effect: 'NoExecute' },
      { key: 'a', value: '2', effect: 'NoSchedule' },
    ]);
    expect(synced(input(first, machine({}, [once]))).spec?.taints?.map(({ key }) => key)).toEqual(['own', 'b']);
  });

  it.each([
    [1, 2, true],
    [2, 2, false],
  ])('of a machine with revision %d under revision %d marks the Node as outdated: %s', (own, current, marked) => {
    const given = input(node(), machine({}), {
      machineSet: revision(own) as Partial<MachineSet> as MachineSet,
      machineDeployment: revision(current) as Partial<MachineDeployment> as MachineDeployment,
    });
    expect((synced(given).spec?.taints ?? []).some(({ key }) => key.endsWith('outdated-revision'))).toBe(marked);
  });
});
