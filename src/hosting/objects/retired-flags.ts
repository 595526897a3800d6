import { kubernetesVersionOfK0s, parseKubernetesVersion, withLeadingV } from '../../api/index.ts';
import { flagName } from './flags.ts';

/**
 * Deprecated API server flags, with the first minor version without the flag. An API server does not start with a
 * removed flag, but many manifests and guides still set it.
 */
const retiredSince: Readonly<Record<string, number>> = { 'cloud-provider': 33, 'cloud-config': 33 };

/** Tells whether a flag was removed before an API server version. */
export function isRetired(version: string, name: string): boolean {
  const since = Object.hasOwn(retiredSince, name) ? retiredSince[name] : undefined;
  const minor = parseKubernetesVersion(withLeadingV(kubernetesVersionOfK0s(version)))?.minor;
  return since !== undefined && minor !== undefined && minor >= since;
}

/** Splits user arguments into those the version supports and the names of removed ones. */
export function withoutRetired(
  version: string,
  args: readonly string[],
): { readonly args: readonly string[]; readonly retired: readonly string[] } {
  const kept: string[] = [];
  const retired = new Set<string>();
  for (const [index, argument] of args.entries()) {
    const name = flagName(argument);
    if (argument.startsWith('-') && isRetired(version, name)) {
      retired.add(name);
      continue;
    }
    // drop the value of `--cloud-provider external` with its flag
    const before = args[index - 1];
    const isValue = !argument.startsWith('-') && before?.startsWith('-') === true && !before.includes('=');
    if (isValue && isRetired(version, flagName(before))) continue;
    kept.push(argument);
  }
  return { args: kept, retired: [...retired] };
}
