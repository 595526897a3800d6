export interface ImageReference {
  /** registry and path, e.g. `quay.io/k0sproject/k0s` */
  repository: string;
  tag?: string;
  /** including the algorithm, e.g. `sha256:…` */
  digest?: string;
}

/**
 * Splits an image name. A colon before the last slash starts the port of a registry, and a colon after it starts the
 * tag: `localhost:5000/k0s` has no tag.
 */
export function parseImage(text: string): ImageReference {
  const at = text.indexOf('@');
  const name = at < 0 ? text : text.slice(0, at);
  const digest = at < 0 ? {} : { digest: text.slice(at + 1) };
  const colon = name.lastIndexOf(':');
  if (colon < 0 || colon < name.lastIndexOf('/')) return { repository: name, ...digest };
  return { repository: name.slice(0, colon), tag: name.slice(colon + 1), ...digest };
}

export function formatImage({ repository, tag, digest }: ImageReference): string {
  return `${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

const tagPattern = /^\w[\w.-]{0,127}$/;
const repositoryPattern = /^[a-z0-9]+([._-]+[a-z0-9]+)*(:[0-9]+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;
const registryPattern = /^[A-Za-z0-9.-]+(:[0-9]+)?$/;
const digestPattern = /^[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]{32,}$/;

export function imageProblem(text: string): string | undefined {
  const { repository, tag, digest } = parseImage(text);
  const slash = repository.indexOf('/');
  const path = slash < 0 ? repository : repository.slice(slash + 1);
  const host = slash < 0 ? '' : repository.slice(0, slash);
  if (!repositoryPattern.test(path) || (host !== '' && !registryPattern.test(host))) {
    return 'must be the name of an image, e.g. registry.example.com/team/image';
  }
  if (tag !== undefined && !tagPattern.test(tag)) return `has the tag ${JSON.stringify(tag)}, which is not a valid one`;
  if (digest !== undefined && !digestPattern.test(digest))
    return `has the digest ${JSON.stringify(digest)}, which is not a valid one`;
  return undefined;
}
