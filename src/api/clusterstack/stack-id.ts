// The identity of a release of a cluster stack: `<provider>-<name>-<major>-<minor>-<version>`. It is parsed from the
// right, because the name may contain dashes. Classes, charts and ClusterStacks write versions with a dot
// (`v0-sha.abc`). Names of ClusterStackReleases and directories use a dash (`v0-sha-abc`).

export interface StackVersion {
  readonly major: number;
  /** `stable` for `v<N>`, otherwise the word after the number */
  readonly channel: string;
  /** undefined for stable versions */
  readonly patch: string | undefined;
}

export interface StackFamily {
  readonly provider: string;
  readonly name: string;
  /** `major.minor` of Kubernetes */
  readonly kubernetesVersion: string;
}

export interface StackId extends StackFamily {
  readonly version: StackVersion;
}

export const stableChannel = 'stable';

const dotted = /^v(\d{1,9})(?:-(\w+)\.(\w+))?$/;
const dashed = /^v(\d{1,9})(?:-(\w+)-(\w+))?$/;
const releaseTail = /-(\d)-(\d+)-(v\d{1,9}(?:-\w+[.-]\w+)?)$/;

/** Parses a version as written in ClusterStacks, classes and charts: `v1`, `v0-sha.abc`. */
export function parseStackVersion(text: string): StackVersion | undefined {
  return versionFrom(dotted.exec(text));
}

function versionFrom(match: RegExpExecArray | null): StackVersion | undefined {
  if (match === null) return undefined;
  const [, major, channel, patch] = match;
  // `stable` has no patch. Such a version would be formatted differently than it was parsed.
  if (channel === stableChannel) return undefined;
  return { major: Number(major), channel: channel ?? stableChannel, patch };
}

/** Parses the id of a release or of a class in either form. Returns undefined for other names. */
export function parseStackId(text: string): StackId | undefined {
  const tail = releaseTail.exec(text);
  if (tail === null) return undefined;
  const [, major, minor, release = ''] = tail;
  const [, provider, name] = /^([^-]+)-(.+)$/.exec(text.slice(0, tail.index)) ?? [];
  const version = versionFrom(dotted.exec(release) ?? dashed.exec(release));
  if (provider === undefined || name === undefined || version === undefined) return undefined;
  return { provider, name, kubernetesVersion: `${major}.${minor}`, version };
}

/** Formats a version with a dot, as in `spec.versions`. */
export function formatStackVersion({ major, channel, patch }: StackVersion): string {
  return patch === undefined ? `v${major}` : `v${major}-${channel}.${patch}`;
}

/** Returns the name of the ClusterClass, which is also the id on release pages and in registries. */
export function classNameOf(id: StackId): string {
  return `${familyName(id)}-${formatStackVersion(id.version)}`;
}

/** Returns the name of the ClusterStackRelease. */
export function releaseNameOf(id: StackId): string {
  return classNameOf(id).replace('.', '-');
}

/** Returns the prefix that all releases of a ClusterStack share. */
export function familyName({ provider, name, kubernetesVersion }: StackFamily): string {
  return `${provider}-${name}-${kubernetesVersion.replace('.', '-')}`;
}

export function sameFamily(a: StackFamily, b: StackFamily): boolean {
  return a.provider === b.provider && a.name === b.name && a.kubernetesVersion === b.kubernetesVersion;
}

/** Tells whether a version belongs to the channel of a ClusterStack. `custom` matches every channel except `stable`. */
export function inChannel({ channel }: StackVersion, wanted: 'stable' | 'custom'): boolean {
  return (channel === stableChannel) === (wanted === stableChannel);
}

/**
 * Orders versions of one channel, oldest first. Numbers compare numerically, so `sha.10` comes after `sha.9`, and
 * numbers come before words. Versions of different channels are ordered by channel name, which says nothing about age.
 */
export function compareStackVersions(a: StackVersion, b: StackVersion): number {
  if (a.channel !== b.channel) return a.channel < b.channel ? -1 : 1;
  if (a.major !== b.major) return a.major - b.major;
  return comparePatches(a.patch ?? '', b.patch ?? '');
}

function comparePatches(a: string, b: string): number {
  const numbers = [a, b].map((text) => /^\d+$/.test(text));
  if (numbers[0] && numbers[1]) {
    const [x, y] = [BigInt(a), BigInt(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (numbers[0] !== numbers[1]) return numbers[0] ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the newest version of each channel. */
export function newestPerChannel(ids: readonly StackId[]): StackId[] {
  const newest = new Map<string, StackId>();
  for (const id of ids) {
    const known = newest.get(id.version.channel);
    if (known === undefined || compareStackVersions(known.version, id.version) < 0) newest.set(id.version.channel, id);
  }
  return [...newest.values()];
}

/** Returns the number of Kubernetes minors between two stacks; undefined for different majors. */
export function minorDistance(from: StackFamily, to: StackFamily): number | undefined {
  const [fromMajor, fromMinor = 0] = from.kubernetesVersion.split('.').map(Number);
  const [toMajor, toMinor = 0] = to.kubernetesVersion.split('.').map(Number);
  return fromMajor === toMajor ? toMinor - fromMinor : undefined;
}
