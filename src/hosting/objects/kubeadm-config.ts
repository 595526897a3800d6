import type { ConfigMap } from '../../api/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { PlaneSpec } from '../spec.ts';
import { planeClusterConfiguration } from '../workload/cluster-configuration.ts';
import { configMap } from './metadata.ts';

/** The kubeadm configuration of the plane, which Kamaji's users and tools read. */
export function kubeadmConfig(desired: PlaneSpec, facts: PlaneFacts): ConfigMap[] {
  if (desired.naming.provider !== 'kamaji' || !planeEndpoint(desired, facts).known) return [];
  return [
    configMap(desired, desired.naming.configs.kubeadm, 'config', {
      ClusterConfiguration: planeClusterConfiguration(desired, facts),
    }),
  ];
}
