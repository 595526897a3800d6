import { parseKubernetesVersion, withLeadingV } from '../../api/index.ts';
import { trimTrailing } from '../../machinery/index.ts';

/** Official registry of Kubernetes images. */
export const defaultRegistry = 'registry.k8s.io';

/** Newest known minor version of konnectivity images. */
const newestKonnectivity = 36;

/** Image tags must not contain `+`. */
export const imageTag = (version: string): string => withLeadingV(version).replaceAll('+', '_');

/** Reference of a Kubernetes image such as kube-apiserver. */
export function componentImage(registry: string, name: string, version: string, suffix = ''): string {
  return `${trimTrailing(registry, '/')}/${name}:${imageTag(version)}${suffix}`;
}

/** konnectivity versions follow Kubernetes minor versions. */
export function konnectivityVersion(kubernetesVersion: string): string {
  const minor = parseKubernetesVersion(withLeadingV(kubernetesVersion))?.minor ?? newestKonnectivity;
  return `v0.${Math.min(minor, newestKonnectivity)}.0`;
}

/** CoreDNS version that ships with a Kubernetes version. */
export function coreDnsVersion(kubernetesVersion: string): string {
  const minor = parseKubernetesVersion(withLeadingV(kubernetesVersion))?.minor ?? 0;
  if (minor >= 34) return 'v1.12.1';
  if (minor >= 33) return 'v1.12.0';
  if (minor >= 31) return 'v1.11.3';
  return 'v1.11.1';
}

/** Images of a plane of Kubernetes components. */
export interface KubernetesImages {
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
  readonly konnectivityServer: string;
  readonly konnectivityAgent: string;
  readonly coreDns: string;
  readonly kubeProxy: string;
}

export function kubernetesImages(version: string, registry: string = defaultRegistry): KubernetesImages {
  return {
    apiServer: componentImage(registry, 'kube-apiserver', version),
    controllerManager: componentImage(registry, 'kube-controller-manager', version),
    scheduler: componentImage(registry, 'kube-scheduler', version),
    konnectivityServer: `${registry}/kas-network-proxy/proxy-server:${konnectivityVersion(version)}`,
    konnectivityAgent: `${registry}/kas-network-proxy/proxy-agent:${konnectivityVersion(version)}`,
    coreDns: `${registry}/coredns/coredns:${coreDnsVersion(version)}`,
    kubeProxy: componentImage(registry, 'kube-proxy', version),
  };
}
