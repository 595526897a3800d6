import { describe, expect, it } from 'vitest';
import { asJson, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';
import { clusterKind, machineDeploymentKind, machineKind } from './kinds.ts';

type AnyKind = { definition: typeof clusterKind.definition };

function stored(kind: AnyKind, version: string, body: JsonObject): JsonObject {
  const object = {
    apiVersion: `cluster.x-k8s.io/${version}`,
    kind: kind.definition.kind,
    metadata: { name: 'x', namespace: 'n' },
    ...body,
  };
  const {
    apiVersion: _,
    kind: __,
    metadata: ___,
    ...rest
  } = kind.definition.convert!(object as UnstructuredObject, 'v1beta2') as UnstructuredObject;
  return rest as JsonObject;
}

const reference = (kind: string): JsonObject => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind,
  name: 'r',
  namespace: 'n',
  uid: 'u',
});
const contract = (kind: string): JsonObject => ({ apiGroup: 'infrastructure.cluster.x-k8s.io', kind, name: 'r' });

describe('conversion of v1beta1 to the hub version', () => {
  it('moves the fields of a topology to their hub fields', () => {
    const health = {
      enable: true,
      maxUnhealthy: '40%',
      unhealthyRange: '[1-3]',
      nodeStartupTimeout: '10m',
      unhealthyConditions: [{ type: 'Ready', status: 'False', timeout: '5m' }],
      remediationTemplate: { apiVersion: 'x.io/v1', kind: 'T', name: 't', namespace: 'n' },
    };
    const topology = {
      class: 'c',
      classNamespace: 'shared',
      version: 'v1.31.0',
      rolloutAfter: '2026-01-01T00:00:00Z',
      controlPlane: { replicas: 3, nodeDrainTimeout: '1m30s', machineHealthCheck: health },
      workers: {
        machineDeployments: [
          {
            class: 'w',
            name: 'md',
            nodeDeletionTimeout: '0s',
            strategy: { rollingUpdate: { maxSurge: 2, deletePolicy: 'Oldest' }, remediation: { maxInFlight: 1 } },
            variables: { overrides: [{ name: 'v', value: { a: [1] }, definitionFrom: 'p' }] },
          },
        ],
      },
    };
    const healthCheck = {
      enabled: true,
      checks: {
        nodeStartupTimeoutSeconds: 600,
        unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: 300 }],
      },
      remediation: {
        triggerIf: { unhealthyLessThanOrEqualTo: '40%', unhealthyInRange: '[1-3]' },
        templateRef: { apiVersion: 'x.io/v1', kind: 'T', name: 't' },
      },
    };
    expect(stored(clusterKind, 'v1beta1', { spec: { topology } })).toEqual({
      spec: {
        topology: {
          classRef: { name: 'c', namespace: 'shared' },
          version: 'v1.31.0',
          controlPlane: { replicas: 3, deletion: { nodeDrainTimeoutSeconds: 90 }, healthCheck },
          workers: {
            machineDeployments: [
              {
                class: 'w',
                name: 'md',
                deletion: { nodeDeletionTimeoutSeconds: 0, order: 'Oldest' },
                rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } },
                healthCheck: { remediation: { maxInFlight: 1 } },
                variables: { overrides: [{ name: 'v', value: { a: [1] } }] },
              },
            ],
          },
        },
      },
    });
  });

  it('moves the fields of a Cluster status to their hub fields', () => {
    const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', severity: '' };
    const modern = {
      type: 'Available',
      status: 'True',
      reason: 'Available',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = {
      infrastructureReady: true,
      controlPlaneReady: false,
      failureReason: 'Lost',
      conditions: [condition],
      failureDomains: { b: { controlPlane: true }, a: {} },
      v1beta2: { conditions: [modern], workers: { replicas: 2 } },
    };
    expect(stored(clusterKind, 'v1beta1', { status })).toEqual({
      status: {
        initialization: { infrastructureProvisioned: true },
        deprecated: { v1beta1: { failureReason: 'Lost', conditions: [condition] } },
        failureDomains: [{ name: 'a' }, { name: 'b', controlPlane: true }],
        conditions: [modern],
        workers: { replicas: 2 },
      },
    });
  });

  it('omits empty values that the hub would refuse', () => {
    const spec = {
      paused: false,
      clusterNetwork: {},
      controlPlaneEndpoint: { host: '', port: 0 },
      availabilityGates: [],
      infrastructureRef: reference('C'),
    };
    expect(stored(clusterKind, 'v1beta1', { spec })).toEqual({ spec: { infrastructureRef: contract('C') } });
  });

  it('moves the fields of a MachineDeployment to their hub fields', () => {
    const spec = {
      clusterName: 'c',
      minReadySeconds: 5,
      revisionHistoryLimit: 3,
      rolloutAfter: '2026-01-01T00:00:00Z',
      machineNamingStrategy: { template: '{{ .random }}' },
      strategy: { type: 'OnDelete', rollingUpdate: { deletePolicy: 'Newest' }, remediation: { maxInFlight: '20%' } },
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          clusterName: 'c',
          bootstrap: { dataSecretName: '' },
          infrastructureRef: reference('M'),
          nodeVolumeDetachTimeout: '1h',
        },
      },
    };
    const status = { readyReplicas: 1, updatedReplicas: 2, v1beta2: { readyReplicas: 3, upToDateReplicas: 4 } };
    expect(stored(machineDeploymentKind, 'v1beta1', { spec, status })).toEqual({
      spec: {
        clusterName: 'c',
        rollout: { after: '2026-01-01T00:00:00Z', strategy: { type: 'OnDelete' } },
        machineNaming: { template: '{{ .random }}' },
        deletion: { order: 'Newest' },
        remediation: { maxInFlight: '20%' },
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            clusterName: 'c',
            minReadySeconds: 5,
            bootstrap: { dataSecretName: '' },
            infrastructureRef: contract('M'),
            deletion: { nodeVolumeDetachTimeoutSeconds: 3600 },
          },
        },
      },
      status: {
        readyReplicas: 3,
        upToDateReplicas: 4,
        deprecated: { v1beta1: { readyReplicas: 1, updatedReplicas: 2 } },
      },
    });
  });

  it('shows phase Running in v1beta1 for a Machine that is updated in place', () => {
    const object = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { name: 'm', namespace: 'n' },
      status: { phase: 'Updating', nodeRef: { name: 'node-1' }, initialization: { bootstrapDataSecretCreated: true } },
    };
    const shown = machineKind.definition.convert!(object, 'v1beta1') as UnstructuredObject;
    expect(shown.status).toEqual({
      phase: 'Running',
      nodeRef: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
      bootstrapReady: true,
    });
    expect(machineKind.definition.convert!(shown, 'v1beta2')).toEqual(object);
  });

  it('fills in the contract version and the namespace of the object when it shows references in v1beta1', () => {
    const object = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'c', namespace: 'n' },
      spec: {
        controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KamajiControlPlane', name: 'k' },
        infrastructureRef: contract('C'),
      },
    };
    const shown = clusterKind.definition.convert!(object, 'v1beta1') as UnstructuredObject;
    expect(shown.spec).toEqual({
      controlPlaneRef: {
        apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
        kind: 'KamajiControlPlane',
        name: 'k',
        namespace: 'n',
      },
      infrastructureRef: {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
        kind: 'C',
        name: 'r',
        namespace: 'n',
      },
    });
    expect(shown.metadata.annotations).toBeUndefined();
  });
});

describe('conversion of v1alpha3 to the hub version', () => {
  it('sets initialization.controlPlaneInitialized from status.controlPlaneInitialized', () => {
    expect(
      stored(clusterKind, 'v1alpha3', { status: { controlPlaneInitialized: true, controlPlaneReady: false } }),
    ).toEqual({
      status: { initialization: { controlPlaneInitialized: true } },
    });
  });

  it('keeps only labels and annotations of template metadata', () => {
    const spec = {
      clusterName: 'c',
      selector: { matchLabels: null },
      template: {
        metadata: { name: 'old', labels: { a: 'b' } },
        spec: { clusterName: 'c', bootstrap: { data: 'inline' } },
      },
    };
    expect(stored(machineDeploymentKind, 'v1alpha3', asJson({ spec }))).toEqual({
      spec: {
        clusterName: 'c',
        selector: {},
        template: { metadata: { labels: { a: 'b' } }, spec: { clusterName: 'c', bootstrap: {} } },
      },
    });
  });
});
