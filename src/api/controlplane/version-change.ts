import { type FieldError, fieldError } from '../../machinery/index.ts';
import { type KubernetesVersion, parseKubernetesVersion } from '../cluster/version.ts';

/** what is looked at of any control plane on machines */
interface Versioned {
  spec: { version: string };
  status?: { version?: string; versions?: { version: string }[] };
}

/**
 * A control plane goes up by one minor version at a time and never below what one of its machines already runs: an
 * older API server may not read what a newer one has stored. A spec that nothing was made of yet can be taken back.
 */
export function validateVersionChange(version: string, old: Versioned): FieldError[] {
  const wanted = parseKubernetesVersion(version ?? '');
  const before = parseKubernetesVersion(old.spec.version ?? '');
  // not a version at all: said elsewhere
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
