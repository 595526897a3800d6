import type { PlaneFacts } from '../facts.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneSpec } from '../spec.ts';
import { coreDnsObjects } from './core-dns.ts';
import { k0sObjects } from './k0s.ts';
import { konnectivityAgentObjects } from './konnectivity-agent.ts';
import { kubeProxyObjects } from './kube-proxy.ts';
import { kubeadmObjects } from './kubeadm.ts';
import { writeLimitObjects } from './write-limits.ts';

/** Lists the required objects of the workload cluster in order. k0s brings its own add-ons. */
export function workloadObjects(desired: PlaneSpec, facts: PlaneFacts): WorkloadObject[] {
  if (desired.layout === 'k0s') return k0sObjects(desired, facts);
  return [
    ...kubeadmObjects(desired, facts),
    ...kubeProxyObjects(desired, facts),
    ...konnectivityAgentObjects(desired, facts),
    ...coreDnsObjects(desired),
    ...writeLimitObjects(desired),
  ];
}
