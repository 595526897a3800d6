import { kubernetesVersionOfImage } from '../../../machinery/index.ts';
import type { Image } from '../../../openstack/index.ts';
import type { ImageKind } from '../facts.ts';

/** Ubuntu releases that the package installation supports. */
const stockUbuntu = /ubuntu[-_ ]*(?:server[-_ ]*)?(?:22\.?04|24\.?04)|\b(?:jammy|noble)\b/i;
const stockVersions: readonly (string | undefined)[] = ['22.04', '24.04'];
const forNodes = /(?:^|[-_ .])(?:capi|kube|kubeadm|k8s|node|nodes|rke2)(?:$|[-_ .])/i;

/** Tells whether the packages of Kubernetes can be installed on machines of an image. */
export function isStockImage(image: Pick<Image, 'name' | 'properties' | 'tags'>): boolean {
  const kind = imageKindOf(image, '');
  return 'kind' in kind && kind.kind === 'stock';
}

/** Returns the kind of an image, or why its machines would not become nodes. */
export function imageKindOf(
  image: Pick<Image, 'name' | 'properties' | 'tags'>,
  version: string,
): { readonly kind: ImageKind } | { readonly problem: string } {
  const installed = kubernetesVersionOfImage(image);
  if (installed !== undefined && !version.startsWith(installed)) {
    const problem = `image "${image.name}" has Kubernetes ${installed} on it, and spec.provider.kubernetes.version says ${version}; name an image with ${version}, a stock Ubuntu 22.04 or 24.04, or the other version`;
    return { problem };
  }
  if (installed !== undefined || forNodes.test(image.name) || image.tags.includes('cluster-api')) {
    return { kind: 'prepared' };
  }
  const { os_distro: distribution, os_version: release } = image.properties;
  const isStock =
    distribution === 'ubuntu' && release !== undefined ? stockVersions.includes(release) : stockUbuntu.test(image.name);
  if (isStock) return { kind: 'stock' };
  return {
    problem: `image "${image.name}" is neither a stock Ubuntu 22.04 or 24.04, where packages can be installed, nor one with Kubernetes on it; name one of these as imageName`,
  };
}
