import { describe, expect, it } from 'vitest';
import type { Cluster, ClusterClassSpec, MachineDeployment, Topology } from '../../../api/index.ts';
import { asTyped, type JsonValue, type UnstructuredObject } from '../../../machinery/index.ts';
import { validatePatches } from '../admission/patch-rules.ts';
import { controlPlaneVariables, globalVariables, machineDeploymentVariables } from './builtin.ts';
import { mergedValues } from './engine.ts';
import { renderValue } from './value-template.ts';
import { valueAtPath } from './variable-path.ts';

const worker = { class: 'big', name: 'md-0', replicas: 2, variables: { overrides: [{ name: 'flavor', value: 'xl' }] } };
const topology: Topology = {
  classRef: { name: 'small', namespace: 'platform' },
  version: 'v1.34.2',
  variables: [
    { name: 'flavor', value: 'm' },
    { name: 'hidden', value: 1 },
  ],
  workers: { machineDeployments: [worker] },
};
const cluster = asTyped<Cluster & { spec: { topology: Topology } }>({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: {
    name: 'c1',
    namespace: 'tenant',
    uid: 'u1',
    labels: { 'managed-secret': 'clouds-yaml' },
    annotations: { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
  },
  spec: {
    clusterNetwork: {
      serviceDomain: 'cluster.local',
      services: { cidrBlocks: ['10.96.0.0/12'] },
      pods: { cidrBlocks: ['172.16.0.0/16', 'fd00::/48'] },
    },
    topology,
  },
} as never);
const plane: UnstructuredObject = {
  apiVersion: 'x.io/v1',
  kind: 'Plane',
  metadata: { name: 'c1-plane', labels: { role: 'plane' } },
  spec: { version: 'v1.33.6', replicas: 3 },
};
const machines: UnstructuredObject = { apiVersion: 'x.io/v1', kind: 'MachineTemplate', metadata: { name: 'c1-cp' } };
const deployment = asTyped<MachineDeployment>({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { name: 'c1-md-0-abcde', annotations: { team: 'a' } },
  spec: {
    clusterName: 'c1',
    replicas: 2,
    template: {
      spec: {
        version: 'v1.33.6',
        bootstrap: { configRef: { apiGroup: 'x.io', kind: 'Config', name: 'boot-1' } },
        infrastructureRef: { apiGroup: 'x.io', kind: 'MachineTemplate', name: 'infra-1' },
      },
    },
  },
} as never);

const isVisible = (name: string): boolean => name !== 'hidden';
const globals = globalVariables(cluster, isVisible);
const ofPlane = mergedValues(globals, controlPlaneVariables(topology, plane, machines, isVisible));
const ofWorkers = mergedValues(globals, machineDeploymentVariables(worker, deployment, isVisible));

const ofCluster: [path: string, value: JsonValue][] = [
  ['builtin.cluster.name', 'c1'],
  ['builtin.cluster.namespace', 'tenant'],
  ['builtin.cluster.uid', 'u1'],
  ['builtin.cluster.metadata', { labels: { 'managed-secret': 'clouds-yaml' }, annotations: { note: 'x' } }],
  ['builtin.cluster.topology.version', 'v1.34.2'],
  ['builtin.cluster.topology.class', 'small'],
  ['builtin.cluster.topology.classNamespace', 'platform'],
  ['builtin.cluster.topology.classRef.name', 'small'],
  ['builtin.cluster.topology.classRef.namespace', 'platform'],
  ['builtin.cluster.network.serviceDomain', 'cluster.local'],
  ['builtin.cluster.network.services', ['10.96.0.0/12']],
  ['builtin.cluster.network.pods[1]', 'fd00::/48'],
];
const rows: [part: string, path: string, value: JsonValue][] = [
  ...ofCluster.map(([path, value]): [string, string, JsonValue] => ['workers', path, value]),
  // the version this part has now, not the one the Cluster is upgraded to
  ['workers', 'builtin.machineDeployment.version', 'v1.33.6'],
  ['workers', 'builtin.machineDeployment.class', 'big'],
  ['workers', 'builtin.machineDeployment.name', 'c1-md-0-abcde'],
  ['workers', 'builtin.machineDeployment.topologyName', 'md-0'],
  ['workers', 'builtin.machineDeployment.replicas', 2],
  ['workers', 'builtin.machineDeployment.metadata.annotations.team', 'a'],
  ['workers', 'builtin.machineDeployment.bootstrap.configRef.name', 'boot-1'],
  ['workers', 'builtin.machineDeployment.infrastructureRef.name', 'infra-1'],
  ['workers', 'flavor', 'xl'],
  ['control plane', 'builtin.cluster.name', 'c1'],
  ['control plane', 'builtin.controlPlane.name', 'c1-plane'],
  ['control plane', 'builtin.controlPlane.version', 'v1.33.6'],
  ['control plane', 'builtin.controlPlane.replicas', 3],
  ['control plane', 'builtin.controlPlane.metadata.labels.role', 'plane'],
  ['control plane', 'builtin.controlPlane.machineTemplate.infrastructureRef.name', 'c1-cp'],
  ['control plane', 'flavor', 'm'],
];

/** Errors of a class with a patch that reads the variable. */
const errorsOf = (variable: string): string[] => {
  const template = (kind: string) => ({ templateRef: { apiVersion: 'x.io/v1', kind, name: 't' } });
  const spec: ClusterClassSpec = {
    infrastructure: template('InfraTemplate'),
    controlPlane: template('PlaneTemplate'),
    variables: [{ name: 'flavor', required: false, schema: { openAPIV3Schema: { type: 'string' } } }],
    patches: [
      {
        name: 'p',
        definitions: [
          {
            selector: { apiVersion: 'x.io/v1', kind: 'PlaneTemplate', matchResources: { controlPlane: true } },
            jsonPatches: [{ op: 'add', path: '/spec/x', valueFrom: { variable } }],
          },
        ],
      },
    ],
  };
  return validatePatches(spec, 'spec.patches').map(({ detail }) => detail);
};

describe('builtin variables', () => {
  it.each(rows)('give the templates of the %s %s', (part, path, value) => {
    expect(valueAtPath(part === 'workers' ? ofWorkers : ofPlane, path)).toEqual(value);
    expect(errorsOf(path)).toEqual([]);
  });

  it('can be used in value templates, also by keys with dashes', () => {
    const image =
      'imageName: node-{{ .builtin.machineDeployment.version }}-{{ .flavor }}\nfrom: {{ index .builtin.cluster.metadata.labels "managed-secret" }}';
    expect(renderValue(image, ofWorkers)).toEqual({ imageName: 'node-v1.33.6-xl', from: 'clouds-yaml' });
    const pods = '{{ range .builtin.cluster.network.pods }}- {{ . }}\n{{ end }}';
    expect(renderValue(pods, ofPlane)).toEqual(['172.16.0.0/16', 'fd00::/48']);
  });

  it('are those of the own part only, and variables of other extensions are absent', () => {
    expect(() => valueAtPath(ofWorkers, 'builtin.controlPlane.version')).toThrow(/there is no "controlPlane"/);
    expect(() => valueAtPath(ofPlane, 'builtin.machineDeployment.version')).toThrow(/there is no "machineDeployment"/);
    expect(() => valueAtPath(ofPlane, 'hidden')).toThrow(/"hidden" does not exist/);
  });
});
