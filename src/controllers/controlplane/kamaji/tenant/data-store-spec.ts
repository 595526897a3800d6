import { type DataStore, DataStores, type Secret, type TenantControlPlane } from '../../../../api/index.ts';
import type { ObjectKey } from '../../../../client/index.ts';
import type { DataStoreSpec } from '../../../../hosting/index.ts';
import type { CacheReader, ReconcileContext } from '../../../../runtime/index.ts';
import { mayRefer, missingGrant, referrer, secretTarget } from '../../../shared/index.ts';
import { placeOf, readValue, storeValues } from '../data-store/places.ts';
import type { Tenancy } from '../data-store/tenancy.ts';

/** A missing prerequisite, which time or the user resolves. */
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

/** Returns the message of the DataStore's condition that is False; empty if there is none. */
export const whyNotReady = (store: DataStore | undefined): string =>
  store?.status?.conditions?.find(({ status }) => status === 'False')?.message ?? '';

/** Builds the data store spec of a plane, or returns what is missing. */
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
 * Lists Secrets without a grant. Pods of the plane receive the credentials of its DataStore, so Secrets of another
 * namespace are copied only if a ReferenceGrant there permits it.
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

/** Adds access to the Secrets that the DataStore refers to. */
export type KineInput = StoreInput & { readonly secrets: (key: ObjectKey) => Secret | undefined };

/** Builds kine's database settings, with the keys that Kamaji uses. */
export function kineSettings({ store, tenancy, systemNamespace, secrets }: KineInput): Record<string, string> {
  return {
    DB_CONNECTION_STRING: store.spec.endpoints[0] ?? '',
    DB_SCHEMA: tenancy.schema,
    DB_USER: readValue(store, 'username', systemNamespace, secrets) ?? '',
    DB_PASSWORD: readValue(store, 'password', systemNamespace, secrets) ?? '',
  };
}

/** Certificates that kine presents to the database, under the file names the engine mounts. */
export function kineCertificates({ store, systemNamespace, secrets }: KineInput): Record<string, string> {
  const text = (value: 'ca.crt' | 'tls.crt' | 'tls.key'): string =>
    readValue(store, value, systemNamespace, secrets) ?? '';
  return { 'ca.crt': text('ca.crt'), 'server.crt': text('tls.crt'), 'server.key': text('tls.key') };
}
