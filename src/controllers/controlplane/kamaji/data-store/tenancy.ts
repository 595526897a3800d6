import { DataStores, type TenantControlPlane, TenantControlPlanes } from '../../../../api/index.ts';
import { isAlreadyExists, isNotFound } from '../../../../machinery/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import { fieldManager } from '../../../shared/index.ts';
import type { EtcdAdministrator, EtcdTenant } from '../../etcd-client/types.ts';
import type { KamajiSettings } from '../scope.ts';
import { managedDataStore } from './default-store.ts';

/** Returns the DataStore of a control plane. That in the status takes precedence over the spec. */
export function dataStoreNameOf(
  { spec, status }: TenantControlPlane,
  { defaultDataStore }: Pick<KamajiSettings, 'defaultDataStore'>,
): string {
  return status?.storage?.dataStoreName || spec.dataStore || defaultDataStore;
}

/** Schema and user of a control plane in its DataStore. */
export interface Tenancy {
  readonly schema: string;
  readonly user: string;
}

/** Returns the tenancy recorded in the status; a new control plane gets a name that was never used before. */
export function tenancyOf({ spec, status, metadata }: TenantControlPlane): Tenancy {
  const known = status?.storage?.setup;
  const uid = metadata.uid ?? '';
  return {
    schema: spec.dataStoreSchema || known?.schema || uid,
    user: spec.dataStoreUsername || known?.user || uid,
  };
}

/** Valid for etcd key prefixes, etcd users and database names. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
/** etcd's superuser. */
const reservedName = 'root';

/**
 * Explains why a control plane may not use its schema or user; undefined if it may. DataStores are shared, and a schema
 * grants access to all its data, so other namespaces must not claim it. Within one namespace it may be shared.
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
  // lists all namespaces, which the cache may not cover
  const { items } = await client.list(TenantControlPlanes, { signal });
  const rival = items
    .filter((other) => other.metadata.namespace !== namespace && dataStoreNameOf(other, settings) === store)
    .find((other) => sharesPlace(tenancyOf(other), { schema, user }) && !cameFirst(tenant, other));
  return (
    rival && 'spec.dataStoreSchema, spec.dataStoreUsername: a control plane of another namespace has one of these names'
  );
}

const sharesPlace = (one: Tenancy, other: Tenancy): boolean => one.schema === other.schema || one.user === other.user;

/**
 * Tells which of two rivals keeps the place: the one that is set up already, otherwise the older one. If both claim to
 * be set up, both are refused.
 */
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

/** Creates the etcd user and role of a control plane. */
export function admit(etcd: EtcdAdministrator, tenancy: Tenancy, signal: AbortSignal): Promise<void> {
  return etcd.tenants.ensure(etcdTenant(tenancy), signal);
}

/** Deletes the data, user and role of a control plane. */
export function dismiss(etcd: EtcdAdministrator, tenancy: Tenancy, signal: AbortSignal): Promise<void> {
  return etcd.tenants.drop(etcdTenant(tenancy), { keys: true }, signal);
}

/** Creates the default DataStore for control planes that name none. */
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
