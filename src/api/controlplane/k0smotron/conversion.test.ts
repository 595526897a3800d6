import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../../machinery/index.ts';
import { k0sWorkerConfigKind } from '../../bootstrap/k0s/kinds.ts';
import { joinTokenRequestKind } from '../../k0smotron/kinds.ts';
import { conversionDataAnnotation } from '../../kind/conversion.ts';
import type { Kind } from '../../kind/define.ts';
import { k0smotronControlPlaneKind } from './kinds.ts';

// biome-ignore lint/suspicious/noExplicitAny: any kind at all
function convert({ definition }: Kind<any>, from: string, to: string, body: JsonObject): UnstructuredObject {
  const object = {
    apiVersion: `${definition.group}/${from}`,
    kind: definition.kind,
    metadata: { name: 'x', namespace: 'n' },
    ...body,
  } as UnstructuredObject;
  return definition.convert!(object, to) as UnstructuredObject;
}

const up = (spec: JsonObject): unknown => convert(k0smotronControlPlaneKind, 'v1beta1', 'v1beta2', { spec }).spec;
const down = (spec: JsonObject): unknown => convert(k0smotronControlPlaneKind, 'v1beta2', 'v1beta1', { spec }).spec;

describe('a K0smotronControlPlane of v1beta1', () => {
  it('gets its storage type from the fields that are set', () => {
    expect(up({ etcd: { image: 'etcd' } })).toEqual({ storage: { type: 'etcd', etcd: { image: 'etcd' } } });
    expect(up({ etcd: { image: 'etcd' }, kineDataSourceURL: 'mysql://' })).toEqual({
      storage: { type: 'kine', etcd: { image: 'etcd' }, kine: { dataSourceURL: 'mysql://' } },
    });
    expect(up({ replicas: 3 })).toEqual({ replicas: 3 });
  });

  it('shows a data source only when the storage type is kine', () => {
    const kine = { dataSourceURL: 'mysql://' };
    expect(down({ storage: { type: 'etcd', kine } })).toEqual({});
    expect(down({ storage: { type: 'kine', kine } })).toEqual({ kineDataSourceURL: 'mysql://' });
  });

  it('renames the control plane flags and the reference to the hosting cluster', () => {
    const kubeconfigRef = { name: 'k', namespace: 'n' };
    const old = { controllerPlaneFlags: ['--debug'], kubeconfigRef };
    expect(up(old)).toEqual({ controlPlaneFlags: ['--debug'], remoteHostCluster: { kubeconfigRef } });
  });

  it('keeps the annotations of its Service', () => {
    const service = { type: 'LoadBalancer', annotations: { a: 'b' }, loadBalancerClass: 'c' };
    expect(up({ service })).toEqual({ service });
  });

  it('shows the v1beta2 status in v1beta1 fields', () => {
    const condition = (type: string, status: string): JsonObject => ({
      type,
      status,
      reason: 'R',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    });
    const status = {
      initialization: { controlPlaneInitialized: true },
      conditions: [condition('Available', 'True')],
      replicas: 3,
      readyReplicas: 2,
      upToDateReplicas: 1,
    };
    expect(convert(k0smotronControlPlaneKind, 'v1beta2', 'v1beta1', { spec: {}, status })['status']).toEqual({
      initialization: { controlPlaneInitialized: true },
      initialized: true,
      ready: true,
      conditions: [condition('ControlPlaneReady', 'True')],
      replicas: 3,
      readyReplicas: 2,
      unavailableReplicas: 1,
      updatedReplicas: 1,
    });
  });

  it('gets no conversion annotation for what both versions can express, defaults included', () => {
    const etcd = { image: 'quay.io/k0sproject/etcd:v3.7.1', persistence: { size: '1Gi' }, autoDeletePVCs: false };
    const spec = { replicas: 1, etcd, persistence: { type: 'emptyDir', autoDeletePVCs: false } };
    const { default: status } = k0smotronControlPlaneKind.definition.versions[1]!.schema.properties!['status']!;
    const stored = convert(k0smotronControlPlaneKind, 'v1beta1', 'v1beta2', { spec, status: status as JsonObject });
    expect(stored.metadata.annotations?.[conversionDataAnnotation]).toBeUndefined();
  });
});

describe('a K0sWorkerConfig of v1beta1', () => {
  it('has the provisioner ignition in the hub when it configures Ignition', () => {
    const ignition = { variant: 'flatcar', version: '1.1.0' };
    const spec = { ignition, preStartCommands: ['a'], customUserDataRef: { secretRef: { name: 's', key: 'k' } } };
    const hub = {
      provisioner: { type: 'ignition', ignition, customUserDataRef: { secretRef: { name: 's', key: 'k' } } },
      preK0sCommands: ['a'],
    };
    expect(convert(k0sWorkerConfigKind, 'v1beta1', 'v1beta2', { spec }).spec).toEqual(hub);
    expect(convert(k0sWorkerConfigKind, 'v1beta2', 'v1beta1', { spec: hub }).spec).toEqual(spec);
  });

  it('is ready when its bootstrap Secret was created', () => {
    const status = { initialization: { dataSecretCreated: true }, dataSecretName: 's' };
    const shown = convert(k0sWorkerConfigKind, 'v1beta2', 'v1beta1', { spec: {}, status });
    expect(shown['status']).toEqual({ ready: true, dataSecretName: 's' });
  });
});

it('JoinTokenRequest of v1beta1 keeps the namespace of clusterRef through the hub', () => {
  const spec = { clusterRef: { name: 'c', namespace: 'n' }, role: 'worker' };
  const stored = convert(joinTokenRequestKind, 'v1beta1', 'v1beta2', { spec });
  expect(stored.spec).toEqual({ clusterName: 'c', role: 'worker' });
  expect(stored.metadata.annotations).toBeUndefined();
  const elsewhere = convert(joinTokenRequestKind, 'v1beta1', 'v1beta2', {
    spec: { clusterRef: { name: 'c', namespace: 'other' } },
  });
  expect(joinTokenRequestKind.definition.convert!(elsewhere, 'v1beta1')).toHaveProperty('spec', {
    clusterRef: { name: 'c', namespace: 'other' },
  });
});
