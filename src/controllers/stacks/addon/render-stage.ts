import type { UnstructuredObject } from '../../../machinery/index.ts';
import { renderChart } from '../../../template/index.ts';
import type { StackCatalog } from '../catalog.ts';
import { instanceLabel, ownedInstance } from '../names.ts';
import type { Stage, StageHook } from '../release/addon-config.ts';
import type { AddonChart, StackRelease } from '../release/release.ts';
import { StackReleaseError } from '../release/release-error.ts';
import { renderValues, type ValueObjects } from './stage-values.ts';

export const addonNamespace = 'kube-system';
const releaseName = 'cluster-addon';
/** the only stage of stacks with one chart for all add-ons */
const singleStage: Stage = { name: releaseName, action: 'apply', before: undefined, after: undefined };

/** Lists the stages of a hook in order. */
export function stagesOf({ addons }: StackRelease, hook: StageHook): readonly Stage[] {
  if (addons.kind === 'stages') return addons.hooks.get(hook) ?? [];
  return hook === 'AfterClusterUpgrade' ? [] : [singleStage];
}

/**
 * Lists the stages whose objects exist between hooks. After an upgrade these are the stages of the upgrade, in place of
 * those of the creation with the same name, and once it is over those that follow it.
 */
export function restingStages(
  release: StackRelease,
  { isUpgraded, isUpgradeOver }: { isUpgraded: boolean; isUpgradeOver: boolean },
): readonly Stage[] {
  const hooks: StageHook[] = ['AfterControlPlaneInitialized'];
  if (isUpgraded) hooks.push('BeforeClusterUpgrade');
  if (isUpgraded && isUpgradeOver) hooks.push('AfterClusterUpgrade');
  const stages = new Map<string, Stage>();
  for (const stage of hooks.flatMap((hook) => stagesOf(release, hook))) stages.set(stage.name, stage);
  return [...stages.values()].filter(({ action }) => action === 'apply');
}

export function chartOf({ addons }: StackRelease, stage: Stage): AddonChart | undefined {
  return addons.kind === 'stages' ? addons.charts.get(stage.name) : addons.chart;
}

/** Renders the objects of a stage with ownership labels. Throws StackReleaseError for an unusable chart or values. */
export async function renderStage(
  catalog: StackCatalog,
  release: StackRelease,
  stage: Stage,
  { objects, signal }: { objects: ValueObjects; signal: AbortSignal },
): Promise<UnstructuredObject[]> {
  const source = chartOf(release, stage);
  if (source === undefined) throw new StackReleaseError(`the release has no chart ${stage.name}`);
  const chart = await catalog.addonChart(release, source, signal);
  const values =
    source.overwrite === undefined ? {} : renderValues(`${stage.name}/overwrite.yaml`, source.overwrite, objects);
  const rendered = renderChart({
    chart,
    values,
    release: { name: releaseName, namespace: addonNamespace },
    capabilities: { kubeVersion: release.metadata.kubernetesVersion },
    includeCrds: true,
  });
  if (!rendered.ok) throw new StackReleaseError(`chart ${stage.name}: ${rendered.error.message}`);
  const { objects: made, hooks } = rendered.value;
  // Helm hooks are not run; objects of install hooks count as part of the add-on
  const installed = hooks.filter(({ events }) => events.some((event) => /^(pre|post)-(install|upgrade)$/.test(event)));
  return [...made, ...installed].map(({ object }) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, [instanceLabel]: ownedInstance } },
  }));
}
