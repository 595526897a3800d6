import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue, UnstructuredObject } from '../../machinery/index.ts';
import { make, updated } from '../admission.test-support.ts';

const variables = [
  { name: 'flavor', value: 'm1.large' },
  { name: 'controlPlaneReplicas', value: 3 },
  { name: 'dns', value: ['9.9.9.9'] },
];
const deployments = [
  { class: 'default-worker', name: 'md-0', replicas: 3 },
  {
    class: 'default-worker',
    name: 'md-1',
    replicas: 1,
    failureDomain: 'az1',
    variables: { overrides: [{ name: 'flavor', value: 'big' }] },
  },
];

function cluster(topology: JsonObject): UnstructuredObject {
  return make('Cluster', {
    topology: {
      classRef: { name: 'c' },
      version: 'v1.33.6',
      variables,
      workers: { machineDeployments: deployments },
      ...topology,
    },
  });
}

/** Returns the errors for a patch of the topology by `kubectl patch`. */
const patched = (topology: JsonObject, by = 'kubectl-patch', before: JsonObject = {}): string[] =>
  updated(cluster(topology), cluster(before), { patchedBy: by });

function operationsIn(message: string): JsonValue {
  return JSON.parse(/--type json -p '(.*?)'\./.exec(message)?.[1] ?? 'null') as JsonValue;
}

describe('a kubectl patch that would drop entries of a topology', () => {
  it('is refused with a message that names the command for changing the one variable', () => {
    const [message, ...others] = patched({ variables: [{ name: 'controlPlaneReplicas', value: 5 }] });
    expect(others).toEqual([]);
    expect(message).toContain(
      'spec.topology.variables: Forbidden: this patch replaces the list and would drop the variables flavor, dns. To change one entry: capstan set variable x -n n controlPlaneReplicas=5 or: kubectl patch cluster x -n n --type json -p ',
    );
    expect(operationsIn(message!)).toEqual([
      { op: 'test', path: '/spec/topology/variables/1/name', value: 'controlPlaneReplicas' },
      { op: 'replace', path: '/spec/topology/variables/1/value', value: 5 },
    ]);
    expect(message).toMatch(/To remove entries: kubectl edit cluster x -n n, or kubectl apply$/);
  });

  it('is refused for machine deployments, naming the entries and fields that would be lost', () => {
    const [message] = patched({
      workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 5 }] },
    });
    expect(message).toContain('spec.topology.workers.machineDeployments: Forbidden');
    expect(message).toContain(
      'would drop the machine deployments md-1. To change one entry: capstan scale cluster x -n n --machine-deployment md-0 --replicas 5',
    );
    expect(operationsIn(message!)).toEqual([
      { op: 'test', path: '/spec/topology/workers/machineDeployments/0/name', value: 'md-0' },
      { op: 'add', path: '/spec/topology/workers/machineDeployments/0/replicas', value: 5 },
    ]);
    const [lost] = patched({
      workers: { machineDeployments: [deployments[0]!, { class: 'default-worker', name: 'md-1', replicas: 2 }] },
    });
    expect(lost).toContain('spec.topology.workers.machineDeployments[1]: Forbidden');
    expect(lost).toContain('the fields failureDomain, variables.overrides flavor');
  });

  it('is refused for control plane overrides with a command quoted for the shell', () => {
    const overrides = (...names: string[]): JsonObject => ({
      controlPlane: { variables: { overrides: names.map((name) => ({ name, value: "it's" })) } },
    });
    const [message] = patched(overrides('c'), 'kubectl-patch', overrides('a', 'b'));
    expect(message).toContain('spec.topology.controlPlane.variables.overrides: Forbidden');
    expect(message).toContain(`capstan set variable x -n n 'c=it'\\''s' --control-plane`);
  });

  it.each<[string, JsonObject, string]>([
    [
      'names all entries',
      { workers: { machineDeployments: [{ ...deployments[0]!, replicas: 5 }, deployments[1]!] } },
      'kubectl-patch',
    ],
    ['changes something else', { version: 'v1.33.7' }, 'kubectl-patch'],
    ['comes from kubectl edit', { variables: [] }, 'kubectl-edit'],
    ['comes from kubectl apply', { variables: [] }, 'kubectl-client-side-apply'],
    ['comes from a controller', { variables: [] }, 'manager'],
  ])('is accepted when it %s', (_, topology, by) => {
    expect(patched(topology, by)).toEqual([]);
  });
});
