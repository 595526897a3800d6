import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../machinery/index.ts';
import { kubeadmConfigKind } from '../bootstrap/kinds.ts';
import { kubeadmControlPlaneKind, kubeadmControlPlaneTemplateKind } from './kinds.ts';

type AnyKind = { definition: typeof kubeadmConfigKind.definition };

function convert(kind: AnyKind, from: string, to: string, body: JsonObject): JsonObject {
  const { definition } = kind;
  const object = {
    apiVersion: `${definition.group}/${from}`,
    kind: definition.kind,
    metadata: { name: 'x', namespace: 'n' },
    ...body,
  };
  const { spec, status } = definition.convert!(object as UnstructuredObject, to) as UnstructuredObject;
  return { ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) };
}

const configUp = (spec: JsonObject, from = 'v1beta1'): JsonObject =>
  convert(kubeadmConfigKind, from, 'v1beta2', { spec })['spec'] as JsonObject;
const configDown = (spec: JsonObject): JsonObject =>
  convert(kubeadmConfigKind, 'v1beta2', 'v1beta1', { spec })['spec'] as JsonObject;

describe('a KubeadmConfig of v1beta1', () => {
  it('becomes a list of extra arguments sorted by name in the hub', () => {
    expect(configUp({ clusterConfiguration: { scheduler: { extraArgs: { v: '2', 'bind-address': '::' } } } })).toEqual({
      clusterConfiguration: {
        scheduler: {
          extraArgs: [
            { name: 'bind-address', value: '::' },
            { name: 'v', value: '2' },
          ],
        },
      },
    });
  });

  it('shows the last of two arguments that share one name', () => {
    const kubeletExtraArgs = [
      { name: 'v', value: '1' },
      { name: 'v', value: '2' },
    ];
    expect(configDown({ joinConfiguration: { nodeRegistration: { kubeletExtraArgs } } })).toEqual({
      joinConfiguration: { nodeRegistration: { kubeletExtraArgs: { v: '2' } } },
    });
  });

  it('moves its timeouts to timeouts of initConfiguration and joinConfiguration', () => {
    const spec = {
      clusterConfiguration: { apiServer: { timeoutForControlPlane: '4m0s' } },
      joinConfiguration: { discovery: { timeout: '90s', tlsBootstrapToken: 'abcdef.0123456789abcdef' } },
    };
    const timeouts = { controlPlaneComponentHealthCheckSeconds: 240 };
    expect(configUp(spec)).toEqual({
      initConfiguration: { timeouts },
      joinConfiguration: {
        timeouts: { ...timeouts, tlsBootstrapSeconds: 90 },
        discovery: { tlsBootstrapToken: 'abcdef.0123456789abcdef' },
      },
    });
  });

  it('shows timeouts without adding parts that hold nothing else', () => {
    const timeouts = { controlPlaneComponentHealthCheckSeconds: 240, tlsBootstrapSeconds: 60, discoverySeconds: 9 };
    expect(configDown({ initConfiguration: { timeouts }, joinConfiguration: { timeouts } })).toEqual({
      clusterConfiguration: { apiServer: { timeoutForControlPlane: '4m0s' } },
      joinConfiguration: { discovery: { timeout: '1m0s' } },
    });
  });

  it('keeps either layout or diskLayout of a partition when both are set', () => {
    const diskLayout = [{ percentage: 50 }];
    const partitions = [
      { device: 'a', layout: true },
      { device: 'b', layout: true, diskLayout },
    ];
    expect(configUp({ diskSetup: { partitions } })).toEqual({
      diskSetup: {
        partitions: [
          { device: 'a', layout: true },
          { device: 'b', diskLayout },
        ],
      },
    });
    expect(configDown({ diskSetup: { partitions: [{ device: 'b', diskLayout }] } })).toEqual({
      diskSetup: { partitions: [{ device: 'b', layout: false, diskLayout }] },
    });
  });

  it('distinguishes an empty list of taints from unset taints', () => {
    const spec = (taints?: JsonObject[]): JsonObject => ({
      initConfiguration: { nodeRegistration: { name: 'n', ...(taints ? { taints } : {}) } },
    });
    expect(configUp(spec([]))).toEqual(spec([]));
    expect(configUp(spec())).toEqual(spec());
  });

  it('drops fields that Cluster API always fills in', () => {
    const clusterConfiguration = {
      apiVersion: 'kubeadm.k8s.io/v1beta3',
      kind: 'ClusterConfiguration',
      clusterName: 'c',
      kubernetesVersion: 'v1.32.0',
      networking: { podSubnet: '10.0.0.0/8' },
      imageRepository: 'r',
    };
    expect(configUp({ clusterConfiguration, useExperimentalRetryJoin: true })).toEqual({
      clusterConfiguration: { imageRepository: 'r' },
    });
  });

  it('moves its readiness and failure reason to other fields of the hub status', () => {
    const status = { ready: true, dataSecretName: 's', failureReason: 'Lost' };
    expect(convert(kubeadmConfigKind, 'v1beta1', 'v1beta2', { status })['status']).toEqual({
      initialization: { dataSecretCreated: true },
      dataSecretName: 's',
      deprecated: { v1beta1: { failureReason: 'Lost' } },
    });
  });
});

describe('a KubeadmConfig of v1alpha3', () => {
  it('drops fields that have no successor', () => {
    const clusterConfiguration = { useHyperKubeImage: true, dns: { type: 'CoreDNS', imageTag: 'v1.8.0' } };
    expect(configUp({ clusterConfiguration }, 'v1alpha3')).toEqual({
      clusterConfiguration: { dns: { imageTag: 'v1.8.0' } },
    });
  });
});

const reference = (version: string): JsonObject => ({
  apiVersion: `infrastructure.cluster.x-k8s.io/${version}`,
  kind: 'OpenStackMachineTemplate',
  name: 'm',
  namespace: 'n',
});
const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachineTemplate', name: 'm' };

describe('a KubeadmControlPlane', () => {
  it('takes machine fields from the top of the v1alpha3 spec into machineTemplate', () => {
    const spec = {
      version: 'v1.19.1',
      infrastructureTemplate: reference('v1alpha3'),
      nodeDrainTimeout: '2m0s',
      upgradeAfter: '2030-01-01T00:00:00Z',
    };
    expect(convert(kubeadmControlPlaneKind, 'v1alpha3', 'v1beta2', { spec })).toEqual({
      spec: {
        version: 'v1.19.1',
        machineTemplate: { spec: { infrastructureRef, deletion: { nodeDrainTimeoutSeconds: 120 } } },
        rollout: { after: '2030-01-01T00:00:00Z' },
      },
    });
  });

  it('is ready in v1beta1 as soon as one of its Nodes is', () => {
    const down = (readyReplicas: number): unknown =>
      convert(kubeadmControlPlaneKind, 'v1beta2', 'v1beta1', {
        status: {
          readyReplicas: 5,
          initialization: { controlPlaneInitialized: true },
          deprecated: { v1beta1: { readyReplicas } },
          lastRemediation: { machine: 'm', time: '2030-01-01T00:00:00Z', retryCount: 1 },
        },
      })['status'];
    const shown = {
      initialized: true,
      v1beta2: { readyReplicas: 5 },
      lastRemediation: { machine: 'm', timestamp: '2030-01-01T00:00:00Z', retryCount: 1 },
    };
    expect(down(2)).toEqual({ ...shown, ready: true, readyReplicas: 2 });
    expect(down(0)).toEqual({ ...shown, readyReplicas: 0 });
  });

  it('defaults to a rolling update when v1beta1 leaves out the rollout type', () => {
    const spec = { version: 'v1.32.0', rolloutStrategy: { rollingUpdate: { maxSurge: 0 } } };
    expect(convert(kubeadmControlPlaneKind, 'v1beta1', 'v1beta2', { spec })['spec']).toMatchObject({
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } } },
    });
  });
});

describe('a KubeadmControlPlaneTemplate', () => {
  it('drops replicas, version and infrastructureRef when it comes from v1alpha4', () => {
    const machineTemplate = { infrastructureRef: reference('v1alpha4'), nodeDrainTimeout: '1m0s' };
    const spec = { template: { spec: { replicas: 3, version: 'v1.22.0', machineTemplate } } };
    expect(convert(kubeadmControlPlaneTemplateKind, 'v1alpha4', 'v1beta2', { spec })).toEqual({
      spec: { template: { spec: { machineTemplate: { spec: { deletion: { nodeDrainTimeoutSeconds: 60 } } } } } },
    });
  });
});
