const kubernetesVersion = /^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-0-9a-zA-Z_.+]*)?$/;

export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
  /** text after the numbers, e.g. `-rc.1` or `+build` */
  suffix: string;
}

/** Parses `v1.31.2`; undefined for texts that Cluster API does not accept as a version. */
export function parseKubernetesVersion(text: string): KubernetesVersion | undefined {
  const match = kubernetesVersion.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]), suffix: match[4] ?? '' };
}

/** Adds a missing leading v. */
export function withLeadingV(text: string): string {
  return text.startsWith('v') ? text : `v${text}`;
}

/** Compares only the numbers. */
export function compareKubernetesVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
