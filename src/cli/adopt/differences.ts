import type { Cluster, CustomResourceDefinition } from '../../api/index.ts';
import type { FoundManager } from './managers.ts';

/** Feature gates whose work Capstan does regardless, or that concern only the manager itself. */
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

/** Lists differences that do not prevent an adoption, but are worth knowing. */
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
        : [`${namespace}/${name} is kept by ${keptBy}: stop it, or it starts the manager again`]),
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

/** Lists objects that are inactive because of a disabled feature gate, which Capstan does not have. */
export function dormantTopologies(managers: readonly FoundManager[], clusters: readonly Cluster[]): string[] {
  const core = managers.find(({ known }) => known.provider === 'cluster-api');
  if (core?.featureGates['ClusterTopology'] !== false) return [];
  const waiting = clusters.filter(({ spec }) => spec.topology !== undefined);
  return waiting.map(
    ({ metadata: { namespace, name } }) =>
      `Cluster ${namespace}/${name} has a topology, and the feature gate ClusterTopology of ${core.namespace}/${core.name} is off: Capstan would start to act on it; switch the gate on first, or take spec.topology away`,
  );
}
