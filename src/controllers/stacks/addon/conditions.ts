/** Conditions of a ClusterAddon, in the order in which Ready evaluates them. */
export const addonConditions = {
  cluster: 'ClusterReady',
  release: 'ClusterStackReleaseDownloaded',
  config: 'ClusterAddonConfigValidated',
  hook: 'HookServerReady',
  chartFound: 'HelmChartFound',
  rendered: 'HelmChartTemplated',
  evaluated: 'EvaluatedCEL',
  deleted: 'HelmChartDeleted',
  applied: 'HelmChartApplied',
} as const;
