import { dataStores, type TenantControlPlane } from '../../../../api/index.ts';
import { isAlreadyExists, isNotFound } from '../../../../machinery/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import { fieldManager } from '../../../shared/index.ts';
import type { EtcdAdministrator, EtcdTenant } from '../../etcd/types.ts';
import type { KamajiSettings } from '../scope.ts';
import { managedDataStore } from './default-store.ts';

/** Where a control plane has its data: what it began with, then what it says. */
export function dataStoreNameOf(
  { spec, status }: TenantControlPlane,
  { defaultDataStore }: Pick<KamajiSettings, 'defaultDataStore'>,
): string {
  return status?.storage?.dataStoreName || spec.dataStore || defaultDataStore;
}

/** Where in a DataStore a control plane keeps its data, and as whom. */
export interface Tenancy {
  readonly schema: string;
  readonly user: string;
}

/** What was set up once stays; a new object begins with a place nobody had before. */
export function tenancyOf({ spec, status, metadata }: TenantControlPlane): Tenancy {
  const known = status?.storage?.setup;
  const uid = metadata.uid ?? '';
  return {
    schema: spec.dataStoreSchema || known?.schema || uid,
    user: spec.dataStoreUsername || known?.user || uid,
  };
}

const etcdTenant = ({ schema, user }: Tenancy): EtcdTenant => ({ user, role: schema, prefix: `/${schema}/` });

/** Lets a control plane into the etcd of a DataStore. */
export function admit(etcd: EtcdAdministrator, tenancy: Tenancy, signal: AbortSignal): Promise<void> {
  return etcd.tenants.ensure(etcdTenant(tenancy), signal);
}

/** Takes its data and its user away. */
export function dismiss(etcd: EtcdAdministrator, tenancy: Tenancy, signal: AbortSignal): Promise<void> {
  return etcd.tenants.drop(etcdTenant(tenancy), { keys: true }, signal);
}

/** Makes the DataStore of whoever names none. */
export async function createDefaultStore(
  { client, signal }: ReconcileContext,
  settings: KamajiSettings,
): Promise<void> {
  try {
    await client.create(dataStores, managedDataStore(settings), { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
  }
}
