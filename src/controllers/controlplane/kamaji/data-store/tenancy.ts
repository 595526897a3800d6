import { DataStores, type TenantControlPlane, TenantControlPlanes } from '../../../../api/index.ts';
import { isAlreadyExists, isNotFound } from '../../../../machinery/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import { fieldManager } from '../../../shared/index.ts';
import type { EtcdAdministrator, EtcdTenant } from '../../etcd-client/types.ts';
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

/** Names become prefixes of keys, users of etcd and names of databases. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
/** The user of etcd who may everything. */
const reservedName = 'root';

/**
 * Why a control plane may not have the place it names: a DataStore is shared, and whoever has the name of a place has all that is
 * in it. In one namespace several may share a place; undefined: it is free, or the plane's own.
 */
export async function tenancyProblem(
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
  tenant: TenantControlPlane,
  settings: Pick<KamajiSettings, 'defaultDataStore'>,
): Promise<string | undefined> {
  const { schema, user } = tenancyOf(tenant);
  const { uid = '', namespace } = tenant.metadata;
  if (schema === uid && user === uid) return undefined;
  for (const [field, name] of [
    ['dataStoreSchema', schema],
    ['dataStoreUsername', user],
  ] as const) {
    if (!plainName.test(name) || name === reservedName) {
      return `spec.${field}: ${JSON.stringify(name)} is no name for it; use letters, digits, "_", "-" and ".", not "root"`;
    }
  }
  const store = dataStoreNameOf(tenant, settings);
  // of all namespaces, which a cache may not have
  const { items } = await client.list(TenantControlPlanes, { signal });
  const rival = items
    .filter((other) => other.metadata.namespace !== namespace && dataStoreNameOf(other, settings) === store)
    .find((other) => sharesPlace(tenancyOf(other), { schema, user }) && !cameFirst(tenant, other));
  return (
    rival && 'spec.dataStoreSchema, spec.dataStoreUsername: a control plane of another namespace has one of these names'
  );
}

const sharesPlace = (one: Tenancy, other: Tenancy): boolean => one.schema === other.schema || one.user === other.user;

/** Who was let in is in; among those who were not, the older one. Two who claim to be in are both kept out. */
function cameFirst(one: TenantControlPlane, other: TenantControlPlane): boolean {
  const [oneIsIn, otherIsIn] = [isIn(one), isIn(other)];
  if (oneIsIn || otherIsIn) return oneIsIn && !otherIsIn;
  const ageOf = ({ metadata }: TenantControlPlane): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.uid ?? ''}`;
  return ageOf(one) < ageOf(other);
}

function isIn(tenant: TenantControlPlane): boolean {
  const { schema, user } = tenancyOf(tenant);
  const setup = tenant.status?.storage?.setup;
  return setup?.schema === schema && setup.user === user;
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
    await client.create(DataStores, managedDataStore(settings), { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
  }
}
