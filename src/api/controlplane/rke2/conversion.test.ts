import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../../machinery/index.ts';
import { rke2ControlPlaneKind } from './kinds.ts';

function convert(from: string, to: string, body: JsonObject): UnstructuredObject {
  const { definition } = rke2ControlPlaneKind;
  const object = {
    apiVersion: `${definition.group}/${from}`,
    kind: definition.kind,
    metadata: { name: 'x', namespace: 'n' },
    ...body,
  } as UnstructuredObject;
  return definition.convert!(object, to) as UnstructuredObject;
}

const reference = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
  kind: 'OpenStackMachineTemplate',
  name: 'm',
};
const contract = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachineTemplate', name: 'm' };

describe('an RKE2ControlPlane of v1beta1', () => {
  it('takes infrastructureRef and timeouts from machineTemplate', () => {
    const spec = { machineTemplate: { infrastructureRef: reference, nodeDrainTimeout: '2m0s' } };
    expect(convert('v1beta1', 'v1beta2', { spec }).spec).toEqual({
      machineTemplate: { spec: { infrastructureRef: contract, deletion: { nodeDrainTimeoutSeconds: 120 } } },
    });
  });

  it('takes infrastructureRef and timeouts beside machineTemplate, as its first manifests wrote them', () => {
    const spec = { infrastructureRef: reference, nodeDrainTimeout: '1m0s' };
    expect(convert('v1beta1', 'v1beta2', { spec }).spec).toEqual({
      machineTemplate: { spec: { infrastructureRef: contract, deletion: { nodeDrainTimeoutSeconds: 60 } } },
    });
  });

  it('shows the v1beta2 status in v1beta1 fields', () => {
    const status = {
      initialization: { controlPlaneInitialized: true },
      readyReplicas: 3,
      availableServerIPs: ['10.6.0.4'],
      deprecated: { v1beta1: { readyReplicas: 3, updatedReplicas: 3, unavailableReplicas: 0 } },
    };
    expect(convert('v1beta2', 'v1beta1', { status }).status).toEqual({
      initialized: true,
      ready: true,
      readyReplicas: 3,
      updatedReplicas: 3,
      unavailableReplicas: 0,
      availableServerIPs: ['10.6.0.4'],
      v1beta2: { readyReplicas: 3 },
    });
  });
});
