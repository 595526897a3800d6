/** The Kubernetes version an image is of: v1.33.1 of a tag such as v1.33.1 or v1.33.1-k0s.0. */
export function kubernetesVersionOf(image: string): string | undefined {
  const match = /:v?(\d+\.\d+\.\d+)/.exec(image);
  return match ? `v${match[1]}` : undefined;
}
