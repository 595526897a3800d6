export interface ImageName {
  repository: string;
  name: string;
  /** empty without a tag */
  tag: string;
}

/** Splits `registry.example/coredns/coredns:v1` into its parts. Drops a digest, because a new tag replaces it. */
export function parseImage(image: string): ImageName {
  const plain = image.split('@')[0] ?? image;
  const slash = plain.lastIndexOf('/');
  const colon = plain.indexOf(':', slash + 1);
  const tag = colon < 0 ? '' : plain.slice(colon + 1);
  const path = colon < 0 ? plain : plain.slice(0, colon);
  return slash < 0
    ? { repository: '', name: path, tag }
    : { repository: path.slice(0, slash), name: path.slice(slash + 1), tag };
}

export function formatImage({ repository, name, tag }: ImageName): string {
  return `${repository === '' ? '' : `${repository}/`}${name}${tag === '' ? '' : `:${tag}`}`;
}

/** Image tags must not contain `+`, so Kubernetes publishes builds with `_`. */
export const versionTag = (version: string): string => version.replaceAll('+', '_');
