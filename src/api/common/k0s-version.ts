import { type KubernetesVersion, parseKubernetesVersion, withLeadingV } from '../cluster/version.ts';
import { formatImage, parseImage } from './image-reference.ts';

/** A version of k0s: its Kubernetes version and the number of the k0s release. */
export interface K0sVersion extends KubernetesVersion {
  /** the number after `k0s.` */
  release: string;
}

const suffixPattern = /^(.*?)[-+]k0s\.([0-9][0-9A-Za-z.-]*)$/;

/**
 * Parses a k0s version in any common spelling: `v1.32.6+k0s.0`, `v1.32.6-k0s.0` (image tags allow no plus), without
 * suffix (release 0), and without the leading v. Returns undefined for other texts.
 */
export function parseK0sVersion(text: string): K0sVersion | undefined {
  const [, kubernetes = text, release = '0'] = suffixPattern.exec(text) ?? [];
  const version = parseKubernetesVersion(withLeadingV(kubernetes));
  return version === undefined ? undefined : { ...version, release };
}

/** Formats a version as k0s does: `v1.32.6+k0s.0`. Invalid versions are returned unchanged. */
export function k0sVersionOf(text: string): string {
  return spelled(text, '+');
}

/** Formats a version as an image tag: `v1.32.6-k0s.0`. Invalid versions are returned unchanged. */
export function k0sTagOf(text: string): string {
  return spelled(text, '-');
}

/** Returns the Kubernetes version alone (`v1.32.6`), to compare it with plain versions. */
export function kubernetesVersionOfK0s(text: string): string {
  const version = parseK0sVersion(text);
  return version === undefined ? text : plain(version);
}

/**
 * Formats a version reported by k0s with the separator that the spec uses. Otherwise a comparison of the two would
 * always find a difference.
 */
export function spelledLike(reported: string, desired: string | undefined): string {
  return desired !== undefined && /-k0s\./.test(desired) ? k0sTagOf(reported) : k0sVersionOf(reported);
}

export const defaultK0sRepository = 'quay.io/k0sproject/k0s';
/** Upstream's default version. It is old, but adopted clusters must not change version by themselves. */
export const defaultK0sVersion = 'v1.27.9+k0s.0';

/**
 * Returns the desired version from `version` or from the tag of `image`. Upstream's documentation forbids the tag, but
 * its guides use it. `version` wins; undefined when neither is set.
 */
export function desiredK0sVersion(spec: { version?: string; image?: string }): string | undefined {
  if (spec.version !== undefined && spec.version !== '') return k0sVersionOf(spec.version);
  const { tag } = parseImage(spec.image ?? '');
  return tag === undefined ? undefined : k0sVersionOf(tag);
}

/**
 * Returns the image to run: the repository of the user with the tag of the desired version. A tag in `image` that is no
 * k0s version is a custom build and stays unless a version is given.
 */
export function k0sImage(spec: { version?: string; image?: string }, fallbackVersion?: string): string {
  const { repository, tag, digest } = parseImage(
    spec.image === undefined || spec.image === '' ? defaultK0sRepository : spec.image,
  );
  const version = spec.version === undefined || spec.version === '' ? undefined : spec.version;
  // A digest pins one build, so the tag does not matter.
  if (digest !== undefined) return formatImage({ repository, ...(tag === undefined ? {} : { tag }), digest });
  const wanted = version ?? tag ?? fallbackVersion;
  return formatImage({ repository, ...(wanted === undefined ? {} : { tag: k0sTagOf(wanted) }) });
}

function spelled(text: string, separator: '+' | '-'): string {
  const version = parseK0sVersion(text);
  return version === undefined ? text : `${plain(version)}${separator}k0s.${version.release}`;
}

function plain({ major, minor, patch, suffix }: KubernetesVersion): string {
  return `v${major}.${minor}.${patch}${suffix}`;
}
