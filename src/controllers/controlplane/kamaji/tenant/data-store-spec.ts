import { type DataStore, DataStores, type Secret, type TenantControlPlane } from '../../../../api/index.ts';
import type { ObjectKey } from '../../../../client/index.ts';
import type { DataStoreSpec } from '../../../../hosting/index.ts';
import type { CacheReader, ReconcileContext } from '../../../../runtime/index.ts';
import { mayRefer, missingGrant, referrer, secretTarget } from '../../../shared/index.ts';
import { placeOf, readValue, storeValues } from '../data-store/places.ts';
import type { Tenancy } from '../data-store/tenancy.ts';

/** Something a spec needs is not there; waiting helps, or the user. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

export interface StoreInput {
  readonly tenant: TenantControlPlane;
  readonly store: DataStore;
  readonly tenancy: Tenancy;
  readonly systemNamespace: string;
  readonly cache: CacheReader;
}

/** What a DataStore says of itself that is not ready; empty while it says nothing. */
export const whyNotReady = (store: DataStore | undefined): string =>
  store?.status?.conditions?.find(({ status }) => status === 'False')?.message ?? '';

/** How the engine is to reach the data. */
export function dataStoreSpec(input: StoreInput): DataStoreSpec | Obstacle {
  const { store, tenancy } = input;
  const { driver, endpoints, tlsConfig } = store.spec;
  if (driver !== 'etcd') {
    return { kind: 'kine', driver, endpoints, ...tenancy, tls: tlsConfig !== undefined };
  }
  const certificate = placeOf(store, 'ca.crt', input.systemNamespace);
  const privateKey = placeOf(store, 'ca.key', input.systemNamespace);
  if (!certificate || !privateKey || privateKey.secret.name !== certificate.secret.name) {
    const message = `DataStore ${store.metadata.name}: spec.tlsConfig.certificateAuthority must have certificate and privateKey in one Secret`;
    return { reason: 'DataStoreWithoutAuthority', message };
  }
  const overrides = overridesOf(input);
  if ('reason' in overrides) return overrides;
  return {
    kind: 'shared-etcd',
    endpoints,
    prefix: tenancy.schema,
    user: tenancy.user,
    authority: {
      secretNamespace: certificate.secret.namespace ?? '',
      secretName: certificate.secret.name,
      certificateKey: certificate.key,
      privateKeyKey: privateKey.key,
    },
    ...(overrides.length > 0 && { overrides }),
  };
}

type Overrides = readonly { readonly resource: string; readonly endpoints: readonly string[] }[];

function overridesOf({ tenant, cache }: StoreInput): Overrides | Obstacle {
  const overrides: { resource: string; endpoints: readonly string[] }[] = [];
  for (const { resource = '', dataStore = '' } of tenant.spec.dataStoreOverrides ?? []) {
    const store = cache.lister(DataStores).get({ name: dataStore });
    if (store?.spec.driver !== 'etcd') {
      const problem = store ? 'is no etcd' : 'does not exist';
      const message = `spec.dataStoreOverrides: DataStore ${dataStore} for ${resource} ${problem}`;
      return { reason: 'DataStoreOverrideInvalid', message };
    }
    overrides.push({ resource, endpoints: store.spec.endpoints });
  }
  return overrides;
}

/**
 * A database is entered with the credentials of its DataStore, which the Pods of the plane are given: Secrets of another namespace
 * are handed over only where that namespace lets control planes of this one have them.
 */
export async function missingGrants(
  { client, signal }: ReconcileContext,
  tenant: TenantControlPlane,
  store: DataStore,
): Promise<string | undefined> {
  if (store.spec.driver === 'etcd') return undefined;
  for (const { secretReference } of storeValues(store).values()) {
    const { name = '', namespace } = secretReference ?? {};
    if (namespace === undefined) continue;
    const reference = { from: referrer(tenant), to: secretTarget(namespace, name) };
    if (await mayRefer(client, reference, signal)) continue;
    return `DataStore ${store.metadata.name}: ${missingGrant(reference)}`;
  }
  return undefined;
}

/** With the Secrets the DataStore names. */
export type KineInput = StoreInput & { readonly secrets: (key: ObjectKey) => Secret | undefined };

/** What kine reads of a database, as Kamaji's users know it. */
export function kineSettings({ store, tenancy, systemNamespace, secrets }: KineInput): Record<string, string> {
  return {
    DB_CONNECTION_STRING: store.spec.endpoints[0] ?? '',
    DB_SCHEMA: tenancy.schema,
    DB_USER: readValue(store, 'username', systemNamespace, secrets) ?? '',
    DB_PASSWORD: readValue(store, 'password', systemNamespace, secrets) ?? '',
  };
}

/** The certificates kine shows to a database, under the names the engine mounts. */
export function kineCertificates({ store, systemNamespace, secrets }: KineInput): Record<string, string> {
  const text = (value: 'ca.crt' | 'tls.crt' | 'tls.key'): string =>
    readValue(store, value, systemNamespace, secrets) ?? '';
  return { 'ca.crt': text('ca.crt'), 'server.crt': text('tls.crt'), 'server.key': text('tls.key') };
}
