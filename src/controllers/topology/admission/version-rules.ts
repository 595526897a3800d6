import { type ClusterClass, compareKubernetesVersions, parseKubernetesVersion } from '../../../api/index.ts';
import { type FieldError, fieldError } from '../../../machinery/index.ts';

const path = 'spec.topology.version';

/** Validates a requested version; refusals list the allowed ones. `from` is the version before an update. */
export function validateVersion(
  version: string,
  from: string | undefined,
  { spec, metadata }: ClusterClass,
): FieldError[] {
  const listed = spec.kubernetesVersions;
  const isPlannedElsewhere = spec.upgrade?.external?.generateUpgradePlanExtension !== undefined;
  if (listed && !listed.includes(version)) {
    const targets = from === undefined ? listed : newerThan(from, listed);
    const allowed = targets.length > 0 ? `allowed: ${targets.join(', ')}` : 'it has no newer one';
    const detail = `version is not in spec.kubernetesVersions of ClusterClass ${metadata.name}; ${allowed}`;
    return [fieldError.invalid(path, version, detail)];
  }
  const [before, after] = [
    from === undefined ? undefined : parseKubernetesVersion(from),
    parseKubernetesVersion(version),
  ];
  if (!before || !after || listed || isPlannedElsewhere) return [];
  if (after.major === before.major && after.minor <= before.minor + 1) return [];
  const next = `v${before.major}.${before.minor + 1}`;
  const detail =
    `version cannot be increased from "${from}" to "${version}": one minor at a time; allowed: newer ones of ` +
    `v${before.major}.${before.minor} and any of ${next}, or list the versions between in spec.kubernetesVersions of ClusterClass ${metadata.name}`;
  return [fieldError.invalid(path, version, detail)];
}

function newerThan(version: string, listed: readonly string[]): string[] {
  const before = parseKubernetesVersion(version);
  return listed.filter((candidate) => {
    const parsed = parseKubernetesVersion(candidate);
    return before !== undefined && parsed !== undefined && compareKubernetesVersions(parsed, before) >= 0;
  });
}
