const kubernetesVersion = /^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-0-9a-zA-Z_.+]*)?$/;

export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
  /** what follows the numbers, e.g. `-rc.1` or `+build` */
  suffix: string;
}

/** `v1.31.2` -> its parts; undefined for what Cluster API does not take as a version */
export function parseKubernetesVersion(text: string): KubernetesVersion | undefined {
  const match = kubernetesVersion.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]), suffix: match[4] ?? '' };
}

/** tolerates a version without its leading v */
export function withLeadingV(text: string): string {
  return text.startsWith('v') ? text : `v${text}`;
}

/** by the numbers alone */
export function compareKubernetesVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}
