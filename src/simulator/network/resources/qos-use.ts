import type { Caller } from '../../core/caller.ts';
import type { Neutron } from '../neutron.ts';
import { qosPolicyNotFound } from '../refusals.ts';
import { canUse } from './sharing.ts';

/** What a QoS policy is put on. */
export interface QosUser {
  readonly kind: 'network' | 'port' | 'floatingip' | 'router';
  readonly id: string;
  readonly projectId: string;
}

export function* qosUsers(neutron: Neutron, policyId: string): Generator<QosUser> {
  const tables = {
    network: neutron.networks,
    port: neutron.ports,
    floatingip: neutron.floatingIps,
    router: neutron.routers,
  } as const;
  for (const [kind, table] of Object.entries(tables)) {
    for (const { id, tenant_id, qos_policy_id } of table.all()) {
      if (qos_policy_id === policyId) yield { kind: kind as QosUser['kind'], id, projectId: tenant_id };
    }
  }
}

/** The policy a request names, which the caller must be able to see; null takes it away, undefined leaves it. */
export function readQosPolicy(neutron: Neutron, value: unknown, caller: Caller): string | null | undefined {
  if (value === undefined || value === null) return value;
  const policy = neutron.qosPolicies.get(value as string);
  if (!policy || !canUse(neutron, policy, caller)) throw qosPolicyNotFound(value);
  return policy.id;
}

/** What new networks of a project get when none is named. */
export function defaultQosPolicy({ qosPolicies }: Neutron, projectId: string): string | null {
  for (const { id, is_default } of qosPolicies.by('project', projectId)) if (is_default) return id;
  return null;
}
