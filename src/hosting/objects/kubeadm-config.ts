import type { ConfigMap } from '../../api/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { PlaneWish } from '../wish.ts';
import { planeClusterConfiguration } from '../workload/cluster-configuration.ts';
import { configMap } from './metadata.ts';

/** The configuration kubeadm would have made the plane from: Kamaji's users read it, tools of theirs too. */
export function kubeadmConfig(wish: PlaneWish, facts: PlaneFacts): ConfigMap[] {
  if (wish.naming.provider !== 'kamaji' || !planeEndpoint(wish, facts).known) return [];
  return [
    configMap(wish, wish.naming.configs.kubeadm, 'config', {
      ClusterConfiguration: planeClusterConfiguration(wish, facts),
    }),
  ];
}
