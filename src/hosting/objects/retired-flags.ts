import { kubernetesVersionOfK0s, parseKubernetesVersion, withLeadingV } from '../../api/index.ts';
import { flagName } from './flags.ts';

/**
 * Flags of API servers that did nothing any more and then went: with one of them an API server does not start. Manifests and
 * manuals have them all the same. The first minor release without the flag.
 */
const retiredSince: Readonly<Record<string, number>> = { 'cloud-provider': 33, 'cloud-config': 33 };

/** Whether an API server of a version does not know a flag that older ones did. */
export function isRetired(version: string, name: string): boolean {
  const since = Object.hasOwn(retiredSince, name) ? retiredSince[name] : undefined;
  const minor = parseKubernetesVersion(withLeadingV(kubernetesVersionOfK0s(version)))?.minor;
  return since !== undefined && minor !== undefined && minor >= since;
}

/** The arguments of a user an API server of this version still knows, and the names of the others. */
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
    // `--cloud-provider external`: the value goes with its flag
    const before = args[index - 1];
    const isValue = !argument.startsWith('-') && before?.startsWith('-') === true && !before.includes('=');
    if (isValue && isRetired(version, flagName(before))) continue;
    kept.push(argument);
  }
  return { args: kept, retired: [...retired] };
}
