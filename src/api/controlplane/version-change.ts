import { type FieldError, fieldError } from '../../machinery/index.ts';
import { type KubernetesVersion, parseKubernetesVersion } from '../cluster/version.ts';

/** Fields of a control plane that this file reads. */
interface Versioned {
  spec: { version: string };
  status?: { version?: string; versions?: { version: string }[] };
}

/**
 * Allows upgrades by one minor version and refuses a version below that of any machine: an older API server may not
 * read what a newer one has stored. A spec that has not been acted on can be reverted.
 */
export function validateVersionChange(version: string, old: Versioned): FieldError[] {
  const wanted = parseKubernetesVersion(version ?? '');
  const before = parseKubernetesVersion(old.spec.version ?? '');
  // Other checks report invalid versions.
  if (wanted === undefined || before === undefined) return [];
  const running = highestRunning(old);
  const skips = wanted.major !== before.major || wanted.minor > before.minor + 1;
  const goesBack = running !== undefined && wanted.minor < running.minor;
  if (!skips && !goesBack) return [];
  const change = `cannot update Kubernetes version from ${old.spec.version} to ${version}`;
  const cause = skips
    ? 'minor versions cannot be skipped'
    : `machines already run v${running?.major}.${running?.minor}`;
  return [fieldError.forbidden('spec.version', `${change}: ${cause}`)];
}

function highestRunning({ status }: Versioned): KubernetesVersion | undefined {
  let highest: KubernetesVersion | undefined;
  for (const text of [status?.version, ...(status?.versions ?? []).map(({ version }) => version)]) {
    const version = parseKubernetesVersion(text ?? '');
    if (version !== undefined && (highest === undefined || version.minor > highest.minor)) highest = version;
  }
  return highest;
}
