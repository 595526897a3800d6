import type { PlaneFacts } from '../facts.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneWish } from '../wish.ts';
import { cloudCredentialObjects } from './cloud-credentials.ts';
import { coreDnsObjects } from './core-dns.ts';
import { k0sObjects } from './k0s.ts';
import { konnectivityAgentObjects } from './konnectivity-agent.ts';
import { kubeProxyObjects } from './kube-proxy.ts';
import { kubeadmObjects } from './kubeadm.ts';

/** What the workload cluster must contain, in the order it is needed. k0s brings its own add-ons. */
export function workloadObjects(wish: PlaneWish, facts: PlaneFacts): WorkloadObject[] {
  const credentials = cloudCredentialObjects(wish);
  if (wish.layout === 'k0s') return [...credentials, ...k0sObjects(wish, facts)];
  return [
    ...kubeadmObjects(wish, facts),
    ...credentials,
    ...kubeProxyObjects(wish, facts),
    ...konnectivityAgentObjects(wish, facts),
    ...coreDnsObjects(wish),
  ];
}
