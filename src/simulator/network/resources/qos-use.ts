import type { Caller } from '../../core/caller.ts';
import type { Neutron } from '../neutron.ts';
import { qosPolicyNotFound } from '../refusals.ts';
import { canUse } from './sharing.ts';

/** A resource with a QoS policy. */
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

/** Reads the policy of a request, which must be visible to the caller. Null removes it, undefined keeps it. */
export function readQosPolicy(neutron: Neutron, value: unknown, caller: Caller): string | null | undefined {
  if (value === undefined || value === null) return value;
  const policy = neutron.qosPolicies.get(value as string);
  if (!policy || !canUse(neutron, policy, caller)) throw qosPolicyNotFound(value);
  return policy.id;
}

/** Returns the default policy for new networks of a project. */
export function defaultQosPolicy({ qosPolicies }: Neutron, projectId: string): string | null {
  for (const { id, is_default } of qosPolicies.by('project', projectId)) if (is_default) return id;
  return null;
}
