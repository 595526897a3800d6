import { ContainerRefusedError } from './types.ts';

/** Image reference as container runtimes parse it: host, path, tag, digest. */
const reference =
  /^(?:((?:localhost|[a-zA-Z0-9-]+\.[a-zA-Z0-9.-]*)(?::\d+)?|[a-zA-Z0-9-]+:\d+)\/)?([a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

/** Valid tags of well-known images. For all other images every tag exists. */
const knownTags: readonly { readonly image: RegExp; readonly tag: RegExp }[] = [
  { image: /(?:^|\/)kube-(?:apiserver|controller-manager|scheduler|proxy)$/, tag: /^v1\.[1-4]\d\.\d+(?:[-.].*)?$/ },
  { image: /(?:^|\/)k0s$/, tag: /^v1\.[1-4]\d\.\d+(?:[-+.].*)?$/ },
  { image: /(?:^|\/)etcd$/, tag: /^v?3\.\d+\.\d+(?:[-.].*)?$/ },
];

/** A registry that answers with rate limit errors. */
const rateLimited = 'rate-limited.invalid';

/** Throws a container runtime's error for an image that cannot be pulled. */
export function checkImage(image: string): void {
  const match = reference.exec(image);
  if (!match) {
    throw new ContainerRefusedError(
      'InvalidImageName',
      `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`,
    );
  }
  const [, host = '', path = '', tag = 'latest', digest] = match;
  if (host === rateLimited) {
    throw new ContainerRefusedError(
      'ErrImagePull',
      `failed to pull and unpack image "${image}": failed to copy: httpReadSeeker: failed open: unexpected status code https://${host}/v2/${path}/manifests/${tag}: 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit`,
    );
  }
  if (host.replace(/:\d+$/, '').endsWith('.invalid')) {
    throw new ContainerRefusedError(
      'ErrImagePull',
      `failed to pull and unpack image "${image}": failed to resolve reference "${image}": dial tcp: lookup ${host}: no such host`,
    );
  }
  const known = digest === undefined && knownTags.find((entry) => entry.image.test(path));
  if (known && !known.tag.test(tag) && tag !== 'latest') {
    throw new ContainerRefusedError(
      'ErrImagePull',
      `failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`,
    );
  }
}

/** Files of known images that containers copy out. Other images have no files. */
const contents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'flannel-cni-plugin': { '/flannel': '#!simulated flannel\n' },
  cilium: {
    '/usr/bin/cilium-mount': '#!simulated cilium-mount\n',
    '/usr/bin/cilium-sysctlfix': '#!simulated cilium-sysctlfix\n',
  },
};

export function imageFiles(image: string): readonly (readonly [string, string])[] {
  return Object.entries(contents[imageProgramName(image)] ?? {});
}

/** Last part of an image name: the program to start when no command is given. */
export function imageProgramName(image: string): string {
  return (
    image
      .replace(/@.*$/, '')
      .replace(/:[^/:]*$/, '')
      .split('/')
      .at(-1) ?? image
  );
}
