import {
  type ClusterStack,
  type ClusterStackRelease,
  compareStackVersions,
  formatStackVersion,
  parseStackId,
  type ReleaseSummary,
  releaseNameOf,
  type StackId,
} from '../../../api/index.ts';
import { conditionOf, isTrue, readyCondition } from '../conditions.ts';

/** Conditions of a ClusterStackRelease, in the order they become True. */
export const releaseConditions = {
  downloaded: 'ClusterStackReleaseDownloaded',
  provider: 'ProviderClusterStackReleaseReady',
  applied: 'HelmChartApplied',
} as const;

/** Phase of a release, as upstream names it. */
export function phaseOf(release: ClusterStackRelease | undefined): string {
  if (release === undefined) return '';
  if (release.status?.ready === true) return 'done';
  if (!isTrue(release, releaseConditions.downloaded)) return 'downloading release assets';
  const needsProvider = release.spec?.providerRef !== undefined;
  if (needsProvider && !isTrue(release, releaseConditions.provider)) return 'provider-specific work';
  return 'applying objects';
}

/** Summarizes the releases of a ClusterStack for its status. */
export function summaryOf(
  wanted: readonly StackId[],
  releases: ReadonlyMap<string, ClusterStackRelease>,
): Pick<NonNullable<ClusterStack['status']>, 'summary' | 'latestRelease' | 'usableVersions'> {
  const summary = wanted.map((id): ReleaseSummary => {
    const name = releaseNameOf(id);
    const release = releases.get(name);
    const verdict = conditionOf(release, readyCondition);
    const message = verdict?.status === 'True' ? undefined : verdict?.message;
    return { name, ready: release?.status?.ready === true, phase: phaseOf(release), ...(message && { message }) };
  });
  const usable = summary.flatMap(({ name, ready }) => (ready ? (parseStackId(name) ?? []) : []));
  const latest = [...usable].sort((a, b) => compareStackVersions(a.version, b.version)).at(-1);
  const latestRelease = latest && releases.get(releaseNameOf(latest));
  return {
    summary,
    ...(latest && {
      latestRelease: `${releaseNameOf(latest)} | ${latestRelease?.status?.kubernetesVersion ?? ''}`,
      usableVersions: usable.map(({ version }) => formatStackVersion(version)).join(', '),
    }),
  };
}
