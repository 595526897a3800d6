import { type DataStore, DataStores } from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { after, done } from '../../../../runtime/index.ts';
import { explain, setVerdict, withoutFinalizer } from '../../../shared/index.ts';
import type { Outcome } from '../../plane-reconcile.ts';
import { useStore } from '../data-store/connect.ts';
import { dataStoreNameOf, dismiss, tenancyOf, tenancyProblem } from '../data-store/tenancy.ts';
import { tenantFinalizer } from '../names.ts';
import type { TenantScope } from './scope.ts';
import { tenantPlaneNames } from './spec.ts';

const retryMs = 5_000;
/** Limit after which deletion no longer waits for an unreachable data store. */
const patienceMs = 10 * 60_000;

/** Deletes Pods, then data, then the finalizer. */
export async function removeTenant(scope: TenantScope): Promise<Outcome> {
  const { context, tenant, draft, cluster, driver, ways, clusterName, isChild } = scope;
  const report = await driver.remove({
    context,
    owner: tenant,
    ...(cluster && { cluster }),
    desired: tenantPlaneNames({ tenant, clusterName, isOfCluster: isChild }),
    volumes: { etcd: false, controlPlane: false },
  });
  if (!report.isGone) {
    setVerdict(
      draft,
      'Deleting',
      { status: 'True', reason: report.reason, message: report.message },
      context.clock.now(),
    );
    return { result: report.result };
  }
  const waiting = await leaveStore(scope);
  if (waiting) return waiting;
  ways.forget(objectKey(tenant));
  draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, tenantFinalizer);
  return { result: done() };
}

async function leaveStore(scope: TenantScope): Promise<Outcome | undefined> {
  const { context, tenant, draft, open, settings } = scope;
  // nothing was set up, so there is nothing to delete
  if (tenant.status?.storage?.setup === undefined) return undefined;
  const name = dataStoreNameOf(tenant, settings);
  const store = context.cache.lister(DataStores).get({ name });
  if (!store) return undefined;
  const tenancy = tenancyOf(tenant);
  // data of another namespace is not deleted
  if ((await tenancyProblem(context, tenant, settings)) !== undefined) return undefined;
  if (store.spec.driver !== 'etcd') {
    leftBehind(scope, store, `database ${tenancy.schema} of DataStore ${name} is left: drop it there`);
    return undefined;
  }
  try {
    await useStore(open, [store, settings.systemNamespace, context.signal], (etcd) =>
      dismiss(etcd, tenancy, context.signal),
    );
    return undefined;
  } catch (error) {
    if (context.signal.aborted) throw error;
    const since = Date.parse(tenant.metadata.deletionTimestamp ?? '');
    if (context.clock.now() - since > patienceMs) {
      leftBehind(scope, store, `keys below /${tenancy.schema}/ of DataStore ${name} are left: ${explain(error)}`);
      return undefined;
    }
    const message = `data in DataStore ${name} cannot be removed yet: ${explain(error)}`;
    setVerdict(draft, 'Deleting', { status: 'True', reason: 'RemovingData', message }, context.clock.now());
    return { result: after(retryMs, 'the data store does not answer') };
  }
}

function leftBehind({ context, tenant }: TenantScope, store: DataStore, message: string): void {
  context.events.event(tenant, 'Warning', 'DataLeftBehind', message);
  context.log.warn('Data of a control plane are left behind', { dataStore: store.metadata.name ?? '', message });
}
