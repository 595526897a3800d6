import { applyJsonPatch, formatYaml, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { planeEndpoint, serverUrl } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import { dnsAddresses } from '../network.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneSpec } from '../spec.ts';
import { planeClusterConfiguration } from './cluster-configuration.ts';
import { binding, role, type Subject, workloadConfigMap } from './rbac.ts';

// Objects and RBAC that `kubeadm join` needs; in a hosted cluster, `kubeadm init` was never run.

const joining: Subject = ['Group', 'system:bootstrappers:kubeadm:default-node-token'];
const nodes: Subject = ['Group', 'system:nodes'];
const system = 'kube-system';
const approver = 'system:certificates.k8s.io:certificatesigningrequests';

/** Empty until the API's endpoint and CA are known. */
export function kubeadmObjects(desired: PlaneSpec, facts: PlaneFacts): WorkloadObject[] {
  if (!desired.addons.kubeadm) return [];
  return [...clusterInfo(desired, facts), ...documents(desired, facts), ...permissions()].map((object) => ({
    object,
    mode: 'keep',
  }));
}

/** Public cluster-info with endpoint and CA; signed for holders of a bootstrap token. */
function clusterInfo(desired: PlaneSpec, facts: PlaneFacts): WorkloadObject['object'][] {
  const answer = planeEndpoint(desired, facts);
  const trust = facts.trust.ca;
  if (!answer.known || trust === undefined) return [];
  const name = 'kubeadm:bootstrap-signer-clusterinfo';
  const kubeconfig = formatYaml({
    apiVersion: 'v1',
    clusters: [
      {
        cluster: {
          'certificate-authority-data': Buffer.from(trust).toString('base64'),
          server: serverUrl(answer.endpoint),
        },
        name: '',
      },
    ],
    contexts: null,
    'current-context': '',
    kind: 'Config',
    preferences: {},
    users: null,
  });
  return [
    workloadConfigMap('kube-public', 'cluster-info', { kubeconfig }),
    role(name, 'kube-public', [readOne('cluster-info')]),
    binding(name, 'kube-public', ['Role', name], [['User', 'system:anonymous']]),
  ];
}

function documents(desired: PlaneSpec, facts: PlaneFacts): WorkloadObject['object'][] {
  const configAccess = 'kubeadm:nodes-kubeadm-config';
  const kubeletAccess = 'kubeadm:kubelet-config';
  return [
    workloadConfigMap(system, 'kubeadm-config', { ClusterConfiguration: planeClusterConfiguration(desired, facts) }),
    role(configAccess, system, [readOne('kubeadm-config')]),
    binding(configAccess, system, ['Role', configAccess], [joining, nodes]),
    workloadConfigMap(system, 'kubelet-config', { kubelet: formatYaml(kubeletConfiguration(desired)) }),
    role(kubeletAccess, system, [readOne('kubelet-config')]),
    binding(kubeletAccess, system, ['Role', kubeletAccess], [nodes, joining]),
  ];
}

function permissions(): WorkloadObject['object'][] {
  return [
    role('kubeadm:get-nodes', undefined, [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]),
    binding('kubeadm:get-nodes', undefined, ['ClusterRole', 'kubeadm:get-nodes'], [joining]),
    binding('kubeadm:kubelet-bootstrap', undefined, ['ClusterRole', 'system:node-bootstrapper'], [joining]),
    binding('kubeadm:node-autoapprove-bootstrap', undefined, ['ClusterRole', `${approver}:nodeclient`], [joining]),
    // a node may renew only its own certificate
    binding(
      'kubeadm:node-autoapprove-certificate-rotation',
      undefined,
      ['ClusterRole', `${approver}:selfnodeclient`],
      [nodes],
    ),
    binding(
      'kubeadm:cluster-admins',
      undefined,
      ['ClusterRole', 'cluster-admin'],
      [['Group', 'kubeadm:cluster-admins']],
    ),
    binding(
      'kubeadm:apiserver-kubelet-client',
      undefined,
      ['ClusterRole', 'system:kubelet-api-admin'],
      [['User', 'kube-apiserver-kubelet-client']],
    ),
  ];
}

const readOne = (name: string) => ({
  apiGroups: [''],
  resources: ['configmaps'],
  resourceNames: [name],
  verbs: ['get'],
});

/** Default kubelet configuration of the cluster; a machine may override it. */
export function kubeletConfiguration(desired: PlaneSpec): JsonObject {
  const { addons, network } = desired;
  const configuration: JsonObject = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: addons.kubeletCgroupDriver ?? 'systemd',
    clusterDNS: dnsAddresses(network),
    clusterDomain: network.domain,
    healthzBindAddress: '127.0.0.1',
    healthzPort: 10248,
    rotateCertificates: true,
    staticPodPath: '/etc/kubernetes/manifests',
  };
  const patches = addons.kubeletPatches ?? [];
  return patches.length === 0 ? configuration : (applyJsonPatch(configuration, patches as JsonValue) as JsonObject);
}
