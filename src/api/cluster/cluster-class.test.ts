import { describe, expect, it } from 'vitest';
import { asJson, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';
import { clusterClassKind } from './cluster-class.ts';

const ref = (kind: string, name: string): JsonObject => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind,
  name,
  namespace: 'n',
});
const templateRef = (kind: string, name: string): JsonObject => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind,
  name,
});

function convert(version: string, to: string, body: JsonObject): JsonObject {
  const object = {
    apiVersion: `cluster.x-k8s.io/${version}`,
    kind: 'ClusterClass',
    metadata: { name: 'c', namespace: 'n' },
    ...body,
  };
  return asJson(clusterClassKind.definition.convert!(object as UnstructuredObject, to));
}

const old: JsonObject = {
  infrastructure: { ref: ref('T', 'infra') },
  infrastructureNamingStrategy: { template: 'x-{{ .random }}' },
  controlPlane: {
    ref: ref('P', 'plane'),
    machineInfrastructure: { ref: ref('M', 'plane-machines') },
    namingStrategy: { template: 'p-{{ .random }}' },
    nodeDrainTimeout: '1m0s',
    machineHealthCheck: {
      maxUnhealthy: '30%',
      unhealthyConditions: [{ type: 'Ready', status: 'False', timeout: '5m0s' }],
    },
  },
  workers: {
    machineDeployments: [
      {
        class: 'worker',
        template: {
          metadata: { labels: { a: 'b' } },
          bootstrap: { ref: ref('B', 'boot') },
          infrastructure: { ref: ref('M', 'machines') },
        },
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: 2, deletePolicy: 'Oldest' },
          remediation: { maxInFlight: 1 },
        },
        nodeDeletionTimeout: '10s',
        machineHealthCheck: {},
      },
    ],
  },
  variables: [
    { name: 'v', required: true, metadata: { labels: { x: 'y' } }, schema: { openAPIV3Schema: { type: 'string' } } },
  ],
  patches: [
    { name: 'p', external: { generateExtension: 'g.e', validateExtension: 'v.e', settings: { a: 'b' } } },
    {
      name: 'q',
      enabledIf: '{{ .v }}',
      definitions: [
        {
          selector: { apiVersion: 'x.io/v1', kind: 'T', matchResources: { infrastructureCluster: true } },
          jsonPatches: [{ op: 'add', path: '/spec/x', valueFrom: { variable: 'v' } }],
        },
      ],
    },
  ],
};

const hub: JsonObject = {
  infrastructure: { templateRef: templateRef('T', 'infra'), naming: { template: 'x-{{ .random }}' } },
  controlPlane: {
    templateRef: templateRef('P', 'plane'),
    machineInfrastructure: { templateRef: templateRef('M', 'plane-machines') },
    naming: { template: 'p-{{ .random }}' },
    deletion: { nodeDrainTimeoutSeconds: 60 },
    healthCheck: {
      checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: 300 }] },
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: '30%' } },
    },
  },
  workers: {
    machineDeployments: [
      {
        class: 'worker',
        metadata: { labels: { a: 'b' } },
        bootstrap: { templateRef: templateRef('B', 'boot') },
        infrastructure: { templateRef: templateRef('M', 'machines') },
        rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } },
        deletion: { nodeDeletionTimeoutSeconds: 10, order: 'Oldest' },
        healthCheck: { remediation: { maxInFlight: 1 } },
      },
    ],
  },
  variables: [
    {
      name: 'v',
      required: true,
      deprecatedV1Beta1Metadata: { labels: { x: 'y' } },
      schema: { openAPIV3Schema: { type: 'string' } },
    },
  ],
  patches: [
    {
      name: 'p',
      external: { generatePatchesExtension: 'g.e', validateTopologyExtension: 'v.e', settings: { a: 'b' } },
    },
    (old['patches'] as JsonObject[])[1]!,
  ],
};

describe('ClusterClass', () => {
  it('converts between v1beta1 and the hub without loss', () => {
    expect(convert('v1beta1', 'v1beta2', { spec: old })['spec']).toEqual(hub);
    expect(convert('v1beta2', 'v1beta1', { spec: hub })['spec']).toEqual(old);
  });

  it('keeps the variable definitions in its status', () => {
    const definition = { from: 'inline', required: false, schema: { openAPIV3Schema: { type: 'string' } } };
    const status = (metadata: string): JsonObject => ({
      variables: [{ name: 'v', definitions: [{ ...definition, [metadata]: { labels: { x: 'y' } } }] }],
      observedGeneration: 2,
    });
    const shown = convert('v1beta2', 'v1beta1', { spec: hub, status: status('deprecatedV1Beta1Metadata') });
    expect(shown['status']).toMatchObject(status('metadata'));
  });
});
