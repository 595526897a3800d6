import { kubernetesVersionOfImage, parseKubernetesVersion, withLeadingV } from '../../../../machinery/index.ts';
import type { ImageView } from '../../../core/contracts.ts';

export interface KubernetesVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** with a leading v */
  readonly text: string;
}

/** Parses a full version. Returns undefined for any other text. */
export function parseVersion(text: string): KubernetesVersion | undefined {
  const full = withLeadingV(text.trim());
  const version = parseKubernetesVersion(full);
  return version && { major: version.major, minor: version.minor, patch: version.patch, text: full };
}

/** Returns the Kubernetes version of an image, from its properties or its name. */
export function imageVersion(image: ImageView | undefined): KubernetesVersion | undefined {
  if (!image) return undefined;
  return parseVersion(kubernetesVersionOfImage(image) ?? '');
}

/** Returns the etcd version that this kubeadm deploys. */
export function etcdVersion({ minor }: KubernetesVersion): string {
  if (minor >= 34) return '3.6.4';
  if (minor >= 32) return '3.5.16';
  if (minor >= 29) return '3.5.10';
  return '3.5.6';
}

export function coreDnsVersion({ minor }: KubernetesVersion): string {
  if (minor >= 34) return 'v1.12.1';
  if (minor >= 33) return 'v1.12.0';
  if (minor >= 31) return 'v1.11.3';
  return 'v1.11.1';
}

export function pauseVersion({ minor }: KubernetesVersion): string {
  if (minor >= 34) return '3.10.1';
  if (minor >= 31) return '3.10';
  return '3.9';
}

/** Returns why a kubeadm version does not support a control-plane version, or undefined if it does. */
export function skewProblem(kubeadm: KubernetesVersion, controlPlane: KubernetesVersion): string | undefined {
  if (controlPlane.major === kubeadm.major && controlPlane.minor >= kubeadm.minor - 1) return undefined;
  return `this version of kubeadm only supports deploying clusters with the control plane version >= ${kubeadm.major}.${kubeadm.minor - 1}.0. Current version: ${controlPlane.text}`;
}
