import type { Pod } from '../../../../api/index.ts';
import type { Disk } from '../../types.ts';

/**
 * DaemonSets that bring a Pod network, by the beginning of their names. Cilium is none of them: its agent is a program that
 * writes the configuration of the plugin when it is ready.
 */
const cniNames = [
  'antrea-agent',
  'aws-node',
  'calico-node',
  'canal',
  'kindnet',
  'kube-flannel',
  'kube-ovn-cni',
  'kube-router',
  'ovn-kubernetes',
  'ovnkube-node',
  'weave-net',
];

const networkConfigs = '/etc/cni/net.d/';

/** Whether a network plugin has been configured for the container runtime of a machine. */
export function hasNetworkConfig(disk: Disk): boolean {
  return disk.list(networkConfigs).some((path) => /\.(?:conf|conflist|json)$/.test(path));
}

/** Whether a Pod is one of those that make the network of its node: the Pod of a known CNI DaemonSet. */
export function isCniPod(pod: Pod): boolean {
  const owner = pod.metadata.ownerReferences?.find(({ kind, controller }) => controller && kind === 'DaemonSet');
  if (!owner) return false;
  return cniNames.some((name) => owner.name === name || owner.name.startsWith(`${name}-`));
}
