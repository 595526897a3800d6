import type { FailureDomain, OpenStackClusterSpec } from '../../../api/index.ts';
import type { AvailabilityZone } from '../../../openstack/index.ts';
import { openStackErrorReason } from '../common/conditions.ts';
import { attempt, type Wait } from '../common/outcomes.ts';
import { type ClusterScope, statusOf } from './scope.ts';

const rememberMs = 3_600_000;

/** Reads the availability zones that machines can be spread over. */
export async function reconcileFailureDomains(scope: ClusterScope): Promise<Wait | undefined> {
  const { access, context, lookups, draft, memory } = scope;
  const { openstack } = access;
  const now = context.clock.now();
  const { controlPlaneAvailabilityZones, controlPlaneOmitAvailabilityZone } = draft.spec;
  const desired = JSON.stringify([controlPlaneAvailabilityZones, controlPlaneOmitAvailabilityZone]);
  // zones change rarely; a spec change takes effect at once
  if (memory.zones?.desired === desired && now - memory.zones.at < rememberMs) return undefined;
  const zones = await attempt('the availability zones of the cloud could not be listed', openStackErrorReason, () =>
    lookups.get(openstack, 'availability zones', () => openstack.compute.availabilityZones.list()),
  );
  memory.zones = { desired, at: now };
  const domains = failureDomainsOf(zones, draft.spec);
  if (domains.length > 0) statusOf(scope).failureDomains = domains;
  else delete statusOf(scope).failureDomains;
  return undefined;
}

/** Lists the failure domains by name, with those for control plane machines marked. */
export function failureDomainsOf(
  zones: readonly AvailabilityZone[],
  spec: Pick<OpenStackClusterSpec, 'controlPlaneAvailabilityZones' | 'controlPlaneOmitAvailabilityZone'>,
): FailureDomain[] {
  const chosen = spec.controlPlaneAvailabilityZones ?? [];
  const isForControlPlane = (name: string): boolean =>
    chosen.length > 0 ? chosen.includes(name) : spec.controlPlaneOmitAvailabilityZone !== true;
  return zones
    .filter(({ available }) => available)
    .map(({ name }) => ({ name, controlPlane: isForControlPlane(name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
