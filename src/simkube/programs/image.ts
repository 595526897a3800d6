/** Returns the numbers of an image tag: 1.33.1 for v1.33.1, 1.33.1-k0s.0 or 1.33.1. */
export function versionInTag(image: string): string | undefined {
  return /:v?(\d+\.\d+\.\d+)/.exec(image)?.[1];
}

/** Returns the Kubernetes version of an image: v1.33.1 for a tag such as v1.33.1 or v1.33.1-k0s.0. */
export function kubernetesVersionOf(image: string): string | undefined {
  const version = versionInTag(image);
  return version === undefined ? undefined : `v${version}`;
}
