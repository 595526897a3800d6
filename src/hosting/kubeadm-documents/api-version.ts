import { parseKubernetesVersion, withLeadingV } from '../../api/index.ts';
import { CapstanError } from '../../machinery/index.ts';

/** Formats of kubeadm's configuration, oldest first. */
export const kubeadmApiVersions = ['v1beta2', 'v1beta3', 'v1beta4'] as const;

export type KubeadmApiVersion = (typeof kubeadmApiVersions)[number];

export const kubeadmGroup = 'kubeadm.k8s.io';

/** The first minor release of Kubernetes 1 whose kubeadm reads each format. */
const firstMinor: readonly (readonly [minor: number, version: KubeadmApiVersion])[] = [
  [31, 'v1beta4'],
  [22, 'v1beta3'],
  [15, 'v1beta2'],
];

/** There is no kubeadm configuration for this version of Kubernetes. */
export class UnsupportedKubernetesVersionError extends CapstanError {
  constructor(version: string) {
    super(
      'CAP_KUBERNETES_VERSION_UNSUPPORTED',
      `Kubernetes version "${version}" has no kubeadm configuration format that is known; use v1.15.0 or newer`,
    );
    this.name = 'UnsupportedKubernetesVersionError';
  }
}

/** The newest format the kubeadm of a Kubernetes version reads. Pre-releases count as their release. */
export function kubeadmApiVersionFor(kubernetesVersion: string): KubeadmApiVersion {
  const version = parseKubernetesVersion(withLeadingV(kubernetesVersion));
  if (version?.major === 1) {
    for (const [minor, format] of firstMinor) if (version.minor >= minor) return format;
  }
  throw new UnsupportedKubernetesVersionError(kubernetesVersion);
}
