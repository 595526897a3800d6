import type { Cluster, CustomResourceDefinition } from '../../api/index.ts';
import type { FoundManager } from './managers.ts';

/** Gates whose work ours does whether they are on or off, or that only concern the manager itself. */
const knownGates: ReadonlySet<string> = new Set([
  'AutoScaleFromZero',
  'ClusterTopology',
  'InPlaceUpdates',
  'KubeadmBootstrapFormatIgnition',
  'MachinePool',
  'MachineSetPreflightChecks',
  'MachineTaintPropagation',
  'MachineWaitForVolumeDetachConsiderVolumeAttachments',
  'PriorityQueue',
  'ReconcilerRateLimiting',
  'RuntimeSDK',
]);

/** What is not an obstacle and good to know before. */
export function differencesOf(
  managers: readonly FoundManager[],
  definitions: readonly CustomResourceDefinition[],
  ours: ReadonlyMap<string, CustomResourceDefinition>,
): string[] {
  return [
    ...managers.flatMap(({ namespace, name, featureGates, keptBy }) => [
      ...Object.entries(featureGates)
        .filter(([gate, isOn]) => isOn && !knownGates.has(gate))
        .map(([gate]) => `${namespace}/${name} runs with the feature gate ${gate}, which ours does not know`),
      ...(keptBy === undefined
        ? []
        : [`${namespace}/${name} is kept by ${keptBy}: tell it to stop, or it starts the manager again`]),
    ]),
    ...definitions.flatMap((definition) => servedDifferences(definition, ours.get(definition.metadata.name ?? ''))),
  ];
}

function servedDifferences(present: CustomResourceDefinition, wanted: CustomResourceDefinition | undefined): string[] {
  if (!wanted) return [];
  const served = ({ spec }: CustomResourceDefinition): string[] =>
    spec.versions.filter((version) => version.served).map(({ name }) => name);
  const after = new Set(served(wanted));
  const lost = served(present).filter((version) => !after.has(version));
  return lost.length === 0 ? [] : [`${present.metadata.name} is not served as ${lost.join(', ')} any more`];
}

/** A gate that is off, and objects that wait for it: ours has no such gate. */
export function dormantTopologies(managers: readonly FoundManager[], clusters: readonly Cluster[]): string[] {
  const core = managers.find(({ known }) => known.provider === 'cluster-api');
  if (core?.featureGates['ClusterTopology'] !== false) return [];
  const waiting = clusters.filter(({ spec }) => spec.topology !== undefined);
  return waiting.map(
    ({ metadata: { namespace, name } }) =>
      `Cluster ${namespace}/${name} has a topology, and the feature gate ClusterTopology of ${core.namespace}/${core.name} is off: ours would begin to act on it; switch the gate on first, or take spec.topology away`,
  );
}
