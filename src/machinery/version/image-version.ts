import { parseKubernetesVersion, withLeadingV } from './kubernetes-version.ts';

/** matches `ubuntu-2204-kube-v1.33.1`, `flatcar-stable-1.32.4`, `capi-1.31.0-ubuntu` */
const inName = /(?:^|[-_ ])v?(1\.\d{1,2}\.\d{1,2})(?=$|[-_ +.])/;
const properties = ['kubernetes_version', 'kube_version', 'k8s_version'];

/**
 * Kubernetes version of a cloud image, with leading v, from its properties or name; undefined if neither contains one.
 */
export function kubernetesVersionOfImage(image: {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
}): string | undefined {
  for (const text of [...properties.map((property) => image.properties[property]), inName.exec(image.name)?.[1]]) {
    const version = withLeadingV(text?.trim() ?? '');
    if (parseKubernetesVersion(version)) return version;
  }
  return undefined;
}
