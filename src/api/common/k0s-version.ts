import { type KubernetesVersion, parseKubernetesVersion, withLeadingV } from '../cluster/version.ts';
import { formatImage, parseImage } from './image-reference.ts';

/** A version of k0s: the Kubernetes it carries and the number of its own release. */
export interface K0sVersion extends KubernetesVersion {
  /** the number after `k0s.` */
  release: string;
}

const suffixPattern = /^(.*?)[-+]k0s\.([0-9][0-9A-Za-z.-]*)$/;

/**
 * Reads a version of k0s in any spelling people use: `v1.32.6+k0s.0`, `v1.32.6-k0s.0` (as image tags must say it),
 * without the suffix (release 0) and without the leading v. Undefined for anything else.
 */
export function parseK0sVersion(text: string): K0sVersion | undefined {
  const [, kubernetes = text, release = '0'] = suffixPattern.exec(text) ?? [];
  const version = parseKubernetesVersion(withLeadingV(kubernetes));
  return version === undefined ? undefined : { ...version, release };
}

/** `v1.32.6+k0s.0`, as k0s itself says it; what is no version stays as it is */
export function k0sVersionOf(text: string): string {
  return spelled(text, '+');
}

/** `v1.32.6-k0s.0`, as tags of images say it; what is no version stays as it is */
export function k0sTagOf(text: string): string {
  return spelled(text, '-');
}

/** `v1.32.6`: the Kubernetes inside, for comparisons with plain versions */
export function kubernetesVersionOfK0s(text: string): string {
  const version = parseK0sVersion(text);
  return version === undefined ? text : plain(version);
}

/**
 * What k0s reports, in the spelling of the spec: with the separator the user writes. Whoever compares the two would
 * otherwise see a difference for ever.
 */
export function spelledLike(reported: string, desired: string | undefined): string {
  return desired !== undefined && /-k0s\./.test(desired) ? k0sTagOf(reported) : k0sVersionOf(reported);
}

export const defaultK0sRepository = 'quay.io/k0sproject/k0s';
/** what upstream runs when nobody says a version; old, but what is taken over must not change by itself */
export const defaultK0sVersion = 'v1.27.9+k0s.0';

/**
 * The version asked for, wherever it was written: in `version`, or as the tag inside `image` (which upstream's
 * documentation forbids and its guides do). `version` wins; undefined when neither says one.
 */
export function desiredK0sVersion(spec: { version?: string; image?: string }): string | undefined {
  if (spec.version !== undefined && spec.version !== '') return k0sVersionOf(spec.version);
  const { tag } = parseImage(spec.image ?? '');
  return tag === undefined ? undefined : k0sVersionOf(tag);
}

/**
 * The image to run: the repository the user names with the tag of the version asked for. A tag in `image` that is no
 * version of k0s is somebody's own build and stays when no version is given.
 */
export function k0sImage(spec: { version?: string; image?: string }, fallbackVersion?: string): string {
  const { repository, tag, digest } = parseImage(
    spec.image === undefined || spec.image === '' ? defaultK0sRepository : spec.image,
  );
  const version = spec.version === undefined || spec.version === '' ? undefined : spec.version;
  // a digest names one build, and no tag changes it
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
