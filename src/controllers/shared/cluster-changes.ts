import type { Cluster } from '../../api/index.ts';
import { deepEqual } from '../../machinery/index.ts';
import type { Predicate } from '../../runtime/index.ts';
import { conditionOf } from './conditions.ts';
import { skipRemediationAnnotation } from './names.ts';

/** Changes of a Cluster that controllers can react to. */
export type ClusterFact =
  | 'anythingDesired'
  | 'paused'
  | 'deletion'
  | 'endpoint'
  | 'network'
  | 'infrastructureRef'
  | 'skipRemediation'
  | 'infrastructureProvisioned'
  | 'failureDomains'
  | 'infrastructureReady'
  | 'controlPlaneInitialized';

const facts: Readonly<Record<ClusterFact, (cluster: Cluster) => unknown>> = {
  anythingDesired: ({ metadata }) => metadata.generation,
  paused: ({ spec }) => spec.paused,
  deletion: ({ metadata }) => metadata.deletionTimestamp,
  endpoint: ({ spec }) => spec.controlPlaneEndpoint,
  network: ({ spec }) => spec.clusterNetwork,
  infrastructureRef: ({ spec }) => spec.infrastructureRef,
  skipRemediation: ({ metadata }) => metadata.annotations?.[skipRemediationAnnotation],
  infrastructureProvisioned: ({ status }) => status?.initialization?.infrastructureProvisioned,
  failureDomains: ({ status }) => status?.failureDomains,
  infrastructureReady: (cluster) => conditionOf(cluster, 'InfrastructureReady')?.status,
  controlPlaneInitialized: (cluster) => conditionOf(cluster, 'ControlPlaneInitialized')?.status,
};

/** Builds a predicate for creations, deletions and the named changes; a Cluster changes often. */
export function clusterChanged(...names: readonly ClusterFact[]): Predicate<Cluster> {
  return (event) =>
    event.type !== 'update' || names.some((name) => !deepEqual(facts[name](event.object), facts[name](event.old)));
}
