import type { PlaneFacts } from '../facts.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneWish } from '../wish.ts';
import { coreDnsObjects } from './core-dns.ts';
import { k0sObjects } from './k0s.ts';
import { konnectivityAgentObjects } from './konnectivity-agent.ts';
import { kubeProxyObjects } from './kube-proxy.ts';
import { kubeadmObjects } from './kubeadm.ts';
import { writeLimitObjects } from './write-limits.ts';

/** What the workload cluster must contain, in the order it is needed. k0s brings its own add-ons. */
export function workloadObjects(wish: PlaneWish, facts: PlaneFacts): WorkloadObject[] {
  if (wish.layout === 'k0s') return k0sObjects(wish, facts);
  return [
    ...kubeadmObjects(wish, facts),
    ...kubeProxyObjects(wish, facts),
    ...konnectivityAgentObjects(wish, facts),
    ...coreDnsObjects(wish),
    ...writeLimitObjects(wish),
  ];
}
