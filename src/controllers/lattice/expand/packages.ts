import { must, parseKubernetesVersion } from '../../../machinery/index.ts';

export interface PackagesContent {
  readonly files: { path: string; owner: string; permissions: string; content: string }[];
  readonly commands: string[];
}

const script = '/usr/local/sbin/install-kubernetes';
const owner = 'root:root';

/**
 * Prepares a stock Ubuntu before kubeadm runs: installs the container runtime and Kubernetes at the cluster's version,
 * and holds the packages so that upgrades do not change them.
 */
export function packagesFor(version: string): PackagesContent {
  const { major, minor, patch } = must(parseKubernetesVersion(version), version);
  const repository = `https://pkgs.k8s.io/core:/stable:/v${major}.${minor}/deb/`;
  const key = '/etc/apt/keyrings/kubernetes.asc';
  const exact = `${major}.${minor}.${patch}-*`;
  return {
    files: [
      {
        path: '/etc/apt/sources.list.d/kubernetes.list',
        owner,
        permissions: '0644',
        content: `deb [signed-by=${key}] ${repository} /\n`,
      },
      { path: '/etc/modules-load.d/kubernetes.conf', owner, permissions: '0644', content: 'overlay\nbr_netfilter\n' },
      {
        path: '/etc/sysctl.d/99-kubernetes.conf',
        owner,
        permissions: '0644',
        content: [
          'net.bridge.bridge-nf-call-iptables = 1',
          'net.bridge.bridge-nf-call-ip6tables = 1',
          'net.ipv4.ip_forward = 1',
          '',
        ].join('\n'),
      },
      {
        path: script,
        owner,
        permissions: '0755',
        content: [
          '#!/bin/sh',
          'set -eu',
          'export DEBIAN_FRONTEND=noninteractive',
          '# mirrors and the lock of the package manager are busy now and then',
          'again() {',
          '  n=0',
          '  until "$@"; do',
          '    n=$((n + 1))',
          '    if [ "$n" -ge 10 ]; then return 1; fi',
          '    sleep 15',
          '  done',
          '}',
          'swapoff -a',
          'modprobe overlay',
          'modprobe br_netfilter',
          'sysctl --system',
          'mkdir -p /etc/apt/keyrings /etc/containerd',
          `again curl -fsSL -o ${key} ${repository}Release.key`,
          'again apt-get update',
          `again apt-get install -y --no-install-recommends containerd conntrack socat ethtool 'kubelet=${exact}' 'kubeadm=${exact}' 'kubectl=${exact}'`,
          'apt-mark hold containerd kubelet kubeadm kubectl',
          "containerd config default | sed 's/SystemdCgroup = false/SystemdCgroup = true/' > /etc/containerd/config.toml",
          'systemctl restart containerd',
          'systemctl enable kubelet',
          '',
        ].join('\n'),
      },
    ],
    // stop before kubeadm, whose error would hide that the packages are missing
    commands: [`${script} || { echo "install-kubernetes failed: see the lines above" >&2; exit 1; }`],
  };
}
