import type { NetworkPolicy, NetworkPolicyPeer, PodDisruptionBudget } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { etcdClientPort, etcdMetricsPort, etcdPeerPort } from '../etcd/members.ts';
import type { PlanePart } from '../naming/types.ts';
import type { PlaneSpec } from '../spec.ts';
import { apiTargetPort } from './component-flags.ts';
import { controllerManagerPort, schedulerPort } from './components.ts';
import { metadataOf } from './metadata.ts';

/** Names of all policies a plane may have now or had in earlier versions. */
export function policyNames({ naming }: Pick<PlaneSpec, 'naming'>): string[] {
  const parts: readonly PlanePart[] = ['control-plane', 'controller-manager', 'scheduler', 'etcd'];
  return [...new Set(parts.map((part) => naming.policy(part)))];
}

export function policyObjects(desired: PlaneSpec): KubeObject[] {
  return [...budgets(desired), ...networkPolicies(desired)];
}

/** A single Pod gets no budget, which would block every drain of its node. */
function budgets(desired: PlaneSpec): PodDisruptionBudget[] {
  const { naming, dataStore, replicas } = desired;
  const budget = (part: PlanePart, count: number, spec: PodDisruptionBudget['spec']): PodDisruptionBudget[] =>
    count < 2
      ? []
      : [
          {
            apiVersion: 'policy/v1',
            kind: 'PodDisruptionBudget',
            metadata: metadataOf(desired, naming.policy(part), part),
            spec: { ...spec, selector: { matchLabels: { ...naming.selector(part) } } },
          },
        ];
  return [
    ...budget('control-plane', replicas, { minAvailable: 1 }),
    ...(dataStore.kind === 'own-etcd' && replicas > 0 ? budget('etcd', dataStore.members, { maxUnavailable: 1 }) : []),
  ];
}

/** Only for HostedControlPlanes; in other planes they could cut off components that users have added. */
function networkPolicies(desired: PlaneSpec): NetworkPolicy[] {
  if (desired.layout !== 'hardened') return [];
  const { naming, exposure } = desired;
  const pods = (part: PlanePart): NetworkPolicyPeer => ({ podSelector: { matchLabels: { ...naming.selector(part) } } });
  const ports = (...numbers: number[]) => numbers.map((port) => ({ port, protocol: 'TCP' }));
  const policy = (part: PlanePart, ingress: NonNullable<NetworkPolicy['spec']>['ingress']): NetworkPolicy => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadataOf(desired, naming.policy(part), part),
    spec: {
      podSelector: { matchLabels: { ...naming.selector(part) } },
      policyTypes: ['Ingress'],
      ...(ingress && { ingress }),
    },
  });
  const agents = desired.konnectivity && exposure.konnectivityPort !== undefined ? [exposure.konnectivityPort] : [];
  return [
    policy('control-plane', [
      { ports: ports(apiTargetPort(desired), ...agents, controllerManagerPort, schedulerPort) },
    ]),
    ...(desired.dataStore.kind === 'own-etcd'
      ? [
          policy('etcd', [
            { from: [pods('control-plane')], ports: ports(etcdClientPort) },
            { from: [pods('etcd')], ports: ports(etcdClientPort, etcdPeerPort) },
            { ports: ports(etcdMetricsPort) },
          ]),
        ]
      : []),
  ];
}
