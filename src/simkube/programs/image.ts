/** The numbers in the tag of an image: 1.33.1 of v1.33.1, 1.33.1-k0s.0 or 1.33.1. */
export function versionInTag(image: string): string | undefined {
  return /:v?(\d+\.\d+\.\d+)/.exec(image)?.[1];
}

/** The Kubernetes version an image is of: v1.33.1 of a tag such as v1.33.1 or v1.33.1-k0s.0. */
export function kubernetesVersionOf(image: string): string | undefined {
  const version = versionInTag(image);
  return version === undefined ? undefined : `v${version}`;
}
