import {
  type Cluster,
  KamajiControlPlanes,
  type TenantControlPlane,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { ignoreNotFound, isNotFound } from '../../../../machinery/index.ts';
import { conditionOf, isDeleting, ownerOf, setVerdict, withoutFinalizer } from '../../../shared/index.ts';
import { controlPlaneFinalizer } from '../names.ts';
import { hostAndPort } from '../tenant/exposure-spec.ts';
import type { ControlPlaneScope } from './scope.ts';
import { reconcileClusterSecrets } from './secrets.ts';
import { observeControlPlane, refuseControlPlane } from './status.ts';
import { tenantOf } from './tenant-of.ts';

/** Applies the TenantControlPlane, and copies its state to the status. */
export async function reconcileControlPlane(scope: ControlPlaneScope, cluster: Cluster): Promise<void> {
  const { context, draft, original } = scope;
  const now = context.clock.now();
  if (original.spec.deployment?.externalClusterReference) {
    const message =
      'spec.deployment.externalClusterReference: control planes run on the management cluster only; remove it, or manage this cluster from there';
    return refuseControlPlane(draft, 'ExternalClusterNotSupported', message, now);
  }
  const live = await findTenant(scope);
  if (live && !isOurs(scope, live)) {
    const message = `TenantControlPlane ${live.metadata.name} already exists and is not ours; delete it, or give this control plane another name`;
    return refuseControlPlane(draft, 'TenantControlPlaneNameTaken', message, now);
  }
  if (live && isDeleting(live)) {
    return refuseControlPlane(
      draft,
      'TenantControlPlaneDeleting',
      'the TenantControlPlane is being deleted and is created again when it is gone',
      now,
    );
  }
  const tenant = await ensureTenant(scope, tenantOf(original, cluster), live);
  rememberEndpoint(scope, tenant);
  const hasSecrets = await reconcileClusterSecrets(scope, cluster, tenant);
  observeControlPlane(draft, tenant, { cluster, hasSecrets }, now);
}

/** Deletes the TenantControlPlane, and with it all objects it owns, before the finalizer is removed. */
export async function removeControlPlane(scope: ControlPlaneScope): Promise<void> {
  const { context, draft } = scope;
  const live = await findTenant(scope);
  if (!live || !isOurs(scope, live)) {
    draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, controlPlaneFinalizer);
    return;
  }
  if (!isDeleting(live)) {
    try {
      await context.client.delete(TenantControlPlanes, objectKey(live), { signal: context.signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  const progress = conditionOf(live, 'Deleting');
  const reason = progress?.reason ?? 'Deleting';
  const message = progress?.message ?? 'the TenantControlPlane is being deleted';
  setVerdict(draft, 'Deleting', { status: 'True', reason, message }, context.clock.now());
}

/** Looks in the API if the cache has no TenantControlPlane: a stale cache must not make it count as deleted. */
async function findTenant({ context, original }: ControlPlaneScope): Promise<TenantControlPlane | undefined> {
  const key = objectKey(original);
  const cached = context.cache.lister(TenantControlPlanes).get(key);
  return (
    cached ?? (await context.client.get(TenantControlPlanes, key, { signal: context.signal }).catch(ignoreNotFound))
  );
}

/** Compares the owner by name, because uids change when objects are moved to another management cluster. */
const isOurs = ({ original }: ControlPlaneScope, tenant: TenantControlPlane): boolean =>
  ownerOf(tenant, KamajiControlPlanes)?.name === original.metadata.name;

async function ensureTenant(
  { context, tenants }: ControlPlaneScope,
  desired: TenantControlPlane,
  live: TenantControlPlane | undefined,
): Promise<TenantControlPlane> {
  const { client, signal } = context;
  if (live) return tenants.apply(client, TenantControlPlanes, desired, live, signal);
  return tenants.create(client, TenantControlPlanes, desired, signal);
}

/** Copies the endpoint to the spec once; Cluster API reads it there. */
function rememberEndpoint({ draft }: ControlPlaneScope, { status }: TenantControlPlane): void {
  if (draft.spec.controlPlaneEndpoint?.host || !status?.controlPlaneEndpoint) return;
  draft.spec = { ...draft.spec, controlPlaneEndpoint: hostAndPort(status.controlPlaneEndpoint) };
}
