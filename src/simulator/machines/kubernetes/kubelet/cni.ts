import type { Pod } from '../../../../api/index.ts';
import type { Disk } from '../../types.ts';

/**
 * Name prefixes of DaemonSets that provide a Pod network. Cilium is not listed: its agent is a program that writes the
 * plugin configuration once it is ready.
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

/** Reports whether a network plugin is configured on a machine. */
export function hasNetworkConfig(disk: Disk): boolean {
  return disk.list(networkConfigs).some((path) => /\.(?:conf|conflist|json)$/.test(path));
}

/** Reports whether a Pod belongs to a known CNI DaemonSet. */
export function isCniPod(pod: Pod): boolean {
  const owner = pod.metadata.ownerReferences?.find(({ kind, controller }) => controller && kind === 'DaemonSet');
  if (!owner) return false;
  return cniNames.some((name) => owner.name === name || owner.name.startsWith(`${name}-`));
}
