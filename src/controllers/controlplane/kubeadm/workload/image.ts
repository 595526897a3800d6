/** Parts of the name of a container image. */
export interface ImageName {
  repository: string;
  name: string;
  /** empty when there is none */
  tag: string;
}

/** `registry.example/coredns/coredns:v1` -> its parts; a digest is left out, as a new tag replaces it. */
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

/** Tags know no `+`: versions with a build are written with `_` instead. */
export const versionTag = (version: string): string => version.replaceAll('+', '_');
