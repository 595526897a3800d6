import { describe, expect, it } from 'vitest';
import type {
  ClusterClass,
  ControlPlaneClass,
  MachineDeploymentClass,
  MachineDeploymentTopology,
  Topology,
} from '../../../api/index.ts';
import type { JsonObject, UnstructuredObject } from '../../../machinery/index.ts';
import { computeDesired } from './compute.ts';
import type { Blueprint } from './types.ts';

const template = (kind: string, spec: JsonObject, metadata: JsonObject = {}): UnstructuredObject => ({
  apiVersion: 'x.io/v1',
  kind,
  metadata: { name: 'class', namespace: 'classes', uid: 'u', resourceVersion: '7' },
  spec: { template: { metadata, spec } },
});
const ref = (kind: string) => ({ templateRef: { apiVersion: 'x.io/v1', kind, name: 'class' } });

interface Input {
  plane?: Partial<ControlPlaneClass>;
  worker?: Partial<MachineDeploymentClass>;
  topology?: Partial<Topology>;
  entry?: Partial<MachineDeploymentTopology>;
  hosted?: boolean;
  annotations?: Record<string, string>;
  contract?: 'v1beta1' | 'v1beta2';
  bootstrapTemplate?: UnstructuredObject;
}

function desired(input: Input = {}) {
  const workerClass: MachineDeploymentClass = {
    class: 'w',
    bootstrap: ref('BootTemplate'),
    infrastructure: ref('MachineTemplate'),
    ...input.worker,
  };
  const clusterClass: ClusterClass = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name: 'class', namespace: 'classes', ...(input.annotations && { annotations: input.annotations }) },
    spec: {
      infrastructure: ref('InfraTemplate'),
      controlPlane: { ...ref('PlaneTemplate'), ...input.plane },
      workers: { machineDeployments: [workerClass] },
    },
  };
  const blueprint: Blueprint = {
    class: clusterClass,
    infrastructureTemplate: template('InfraTemplate', { a: 1 }, { labels: { from: 'template' } }),
    controlPlaneTemplate: template('PlaneTemplate', {
      replicas: 9,
      machineTemplate: { metadata: { labels: { kept: 'yes' } } },
    }),
    controlPlaneContract: input.contract ?? 'v1beta2',
    ...(!input.hosted && { controlPlaneMachineTemplate: template('MachineTemplate', { m: 1 }) }),
    workers: new Map([
      [
        'w',
        {
          class: workerClass,
          bootstrapTemplate: input.bootstrapTemplate ?? template('BootTemplate', { b: 1 }),
          infrastructureTemplate: template('MachineTemplate', { m: 1 }),
        },
      ],
    ]),
  };
  const entry = { class: 'w', name: 'md-0', ...input.entry };
  const topology: Topology = {
    classRef: { name: 'class', namespace: 'classes' },
    version: 'v1.34.0',
    workers: { machineDeployments: [entry] },
    ...input.topology,
  };
  const cluster = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'c1', namespace: 'n', uid: 'cluster-uid' },
    spec: { topology },
  };
  const external = { generate: async () => [], validate: async () => {} };
  return computeDesired(
    blueprint,
    { cluster, deployments: new Map() },
    { controlPlane: 'v1.34.0', deployments: new Map([['md-0', 'v1.34.0']]) },
    external,
  );
}

describe('the desired objects of a topology', () => {
  it('have no spec when the class template has none', async () => {
    const { spec: _, ...empty } = template('BootTemplate', {});
    const { deployments } = await desired({ bootstrapTemplate: empty });
    expect(deployments[0]?.bootstrapTemplate.object).not.toHaveProperty('spec');
    expect(deployments[0]?.infrastructureTemplate.object).toHaveProperty('spec');
  });

  it('have stable names, belong to the Cluster and name their template', async () => {
    const [first, second] = [await desired(), await desired()];
    expect(second).toEqual(first);
    const { infrastructureCluster, controlPlane, deployments } = first;
    expect(infrastructureCluster).toEqual({
      apiVersion: 'x.io/v1',
      kind: 'Infra',
      metadata: {
        name: expect.stringMatching(/^c1-[a-z0-9]{5}$/),
        namespace: 'n',
        labels: { from: 'template', 'cluster.x-k8s.io/cluster-name': 'c1', 'topology.cluster.x-k8s.io/owned': '' },
        annotations: {
          'cluster.x-k8s.io/cloned-from-name': 'class',
          'cluster.x-k8s.io/cloned-from-groupkind': 'InfraTemplate.x.io',
        },
        ownerReferences: [expect.objectContaining({ kind: 'Cluster', uid: 'cluster-uid', controller: true })],
      },
      spec: { a: 1 },
    });
    const reference = (controlPlane.object as { spec?: JsonObject }).spec?.['machineTemplate'];
    expect(reference).toMatchObject({
      spec: {
        infrastructureRef: { kind: 'MachineTemplate', name: controlPlane.machineTemplate?.object.metadata.name },
      },
    });
    const [worker] = deployments;
    expect(worker?.object.metadata.name).toMatch(/^c1-md-0-[a-z0-9]{5}$/);
    expect(worker?.object.spec.template.spec).toMatchObject({
      clusterName: 'c1',
      version: 'v1.34.0',
      bootstrap: {
        configRef: { apiGroup: 'x.io', kind: 'BootTemplate', name: worker?.bootstrapTemplate.object.metadata.name },
      },
    });
  });

  it('have labels and annotations of class and topology, where the topology wins', async () => {
    const { controlPlane, deployments } = await desired({
      plane: { metadata: { labels: { a: 'class', b: 'class' } } },
      topology: { controlPlane: { metadata: { labels: { b: 'topology' }, annotations: { x: 'y' } } } },
      worker: { metadata: { annotations: { a: 'class' } } },
    });
    expect(controlPlane.object.metadata.labels).toMatchObject({ a: 'class', b: 'topology' });
    expect(controlPlane.object).toMatchObject({
      spec: {
        machineTemplate: { metadata: { labels: { kept: 'yes', a: 'class', b: 'topology' }, annotations: { x: 'y' } } },
      },
    });
    expect(deployments[0]?.object.metadata.annotations).toEqual({ a: 'class' });
    expect(deployments[0]?.object.spec.template.metadata?.annotations).toEqual({ a: 'class' });
  });

  it('prefer settings of workers over those of their class, without upgrade annotations', async () => {
    const { deployments } = await desired({
      worker: {
        failureDomain: 'a',
        minReadySeconds: 5,
        deletion: { order: 'Oldest', nodeDrainTimeoutSeconds: 60, nodeDeletionTimeoutSeconds: 9 },
        rollout: { strategy: { type: 'OnDelete' } },
        taints: [{ key: 'k', effect: 'NoSchedule', propagation: 'Always' }],
        readinessGates: [{ conditionType: 'A' }],
      },
      entry: {
        replicas: 3,
        failureDomain: 'b',
        rollout: { after: '2026-01-01T00:00:00Z' },
        deletion: { nodeDrainTimeoutSeconds: 0 },
        readinessGates: [{ conditionType: 'B' }],
        metadata: { annotations: { 'topology.cluster.x-k8s.io/defer-upgrade': '' } },
      },
    });
    const { spec, metadata } = deployments[0]!.object;
    expect(metadata.annotations).toBeUndefined();
    expect(spec).toMatchObject({
      replicas: 3,
      deletion: { order: 'Oldest' },
      // `rollout.after` does not affect the strategy
      rollout: { strategy: { type: 'OnDelete' }, after: '2026-01-01T00:00:00Z' },
    });
    expect(spec.template.spec).toMatchObject({
      failureDomain: 'b',
      minReadySeconds: 5,
      deletion: { nodeDrainTimeoutSeconds: 0, nodeDeletionTimeoutSeconds: 9 },
      taints: [{ key: 'k' }],
      readinessGates: [{ conditionType: 'B' }],
    });
  });

  it('set control plane fields at the paths of its contract', async () => {
    const topology = { controlPlane: { replicas: 3, deletion: { nodeDrainTimeoutSeconds: 90 } } };
    const { controlPlane } = await desired({ topology, contract: 'v1beta1' });
    expect(controlPlane.object).toMatchObject({
      spec: {
        replicas: 3,
        version: 'v1.34.0',
        machineTemplate: { nodeDrainTimeout: '1m30s', infrastructureRef: { apiVersion: 'x.io/v1', namespace: 'n' } },
      },
    });
  });

  it('leave machines and replicas to a hosted control plane', async () => {
    const { controlPlane } = await desired({
      hosted: true,
      topology: { controlPlane: { healthCheck: { enabled: true } } },
    });
    expect(controlPlane.machineTemplate).toBeUndefined();
    expect(controlPlane.healthCheck).toBeUndefined();
  });

  it('have health checks of the topology, or else of the class', async () => {
    const healthCheck = { checks: { nodeStartupTimeoutSeconds: 600 }, remediation: { maxInFlight: 1 } };
    const ofClass = await desired({
      worker: { healthCheck },
      plane: { healthCheck: { checks: { nodeStartupTimeoutSeconds: 60 } } },
    });
    expect(ofClass.controlPlane.healthCheck?.spec).toMatchObject({ checks: { nodeStartupTimeoutSeconds: 60 } });
    expect(ofClass.deployments[0]?.healthCheck?.spec).toMatchObject({
      selector: { matchLabels: { 'topology.cluster.x-k8s.io/deployment-name': 'md-0' } },
      checks: { nodeStartupTimeoutSeconds: 600 },
    });
    expect(ofClass.deployments[0]?.healthCheck?.spec.remediation).toBeUndefined();
    expect(ofClass.deployments[0]?.object.spec.remediation).toEqual({ maxInFlight: 1 });
    const off = await desired({ worker: { healthCheck }, entry: { healthCheck: { enabled: false } } });
    expect(off.deployments[0]?.healthCheck).toBeUndefined();
  });

  it('take the control plane replicas from a variable that the class names', async () => {
    const annotations = { 'topology.capstan.dev/control-plane-replicas-variable': 'count' };
    const variables = [{ name: 'count', value: 5 }];
    const alone = await desired({ annotations, topology: { variables } });
    expect(alone.controlPlane.object).toMatchObject({ spec: { replicas: 5 } });
    expect(alone.notes).toEqual([]);
    const both = await desired({ annotations, topology: { variables, controlPlane: { replicas: 3 } } });
    expect(both.controlPlane.object).toMatchObject({ spec: { replicas: 5 } });
    expect(both.notes).toEqual([expect.stringMatching(/replicas is 3, but variable "count" says 5/)]);
  });

  it('are refused with the name of an unknown worker class', async () => {
    await expect(desired({ entry: { class: 'x' } })).rejects.toThrow(
      /machineDeployments\[md-0\]\.class: ClusterClass class has no class "x" of workers; it has: w/,
    );
  });
});
