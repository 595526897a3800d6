import { parseKubernetesVersion, withLeadingV } from '../../api/index.ts';
import { CapstanError } from '../../machinery/index.ts';

/** kubeadm configuration versions, oldest first. */
export const kubeadmApiVersions = ['v1beta2', 'v1beta3', 'v1beta4'] as const;

export type KubeadmApiVersion = (typeof kubeadmApiVersions)[number];

export const kubeadmGroup = 'kubeadm.k8s.io';

/** First minor version of Kubernetes whose kubeadm reads each configuration version. */
const firstMinor: readonly (readonly [minor: number, version: KubeadmApiVersion])[] = [
  [31, 'v1beta4'],
  [22, 'v1beta3'],
  [15, 'v1beta2'],
];

/** No kubeadm configuration version supports this Kubernetes version. */
export class UnsupportedKubernetesVersionError extends CapstanError {
  constructor(version: string) {
    super(
      'CAP_KUBERNETES_VERSION_UNSUPPORTED',
      `Kubernetes version "${version}" has no kubeadm configuration format that is known; use v1.15.0 or newer`,
    );
    this.name = 'UnsupportedKubernetesVersionError';
  }
}

/**
 * Returns the newest configuration version that kubeadm of a Kubernetes version reads. Pre-releases count as their
 * release.
 */
export function kubeadmApiVersionFor(kubernetesVersion: string): KubeadmApiVersion {
  const version = parseKubernetesVersion(withLeadingV(kubernetesVersion));
  if (version?.major === 1) {
    for (const [minor, format] of firstMinor) if (version.minor >= minor) return format;
  }
  throw new UnsupportedKubernetesVersionError(kubernetesVersion);
}
