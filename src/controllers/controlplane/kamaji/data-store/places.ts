import { type ContentOrSecret, type DataStore, type Secret, Secrets } from '../../../../api/index.ts';
import { formatKey, type ObjectKey } from '../../../../client/index.ts';
import { readSecret, secretText } from '../../../shared/index.ts';

/** Values that a DataStore takes inline or from a Secret. */
export type StoreValue = 'ca.crt' | 'ca.key' | 'tls.crt' | 'tls.key' | 'username' | 'password';

export interface SecretKey {
  readonly secret: ObjectKey;
  readonly key: string;
}

/** Name of the Secret that holds the inline values of a DataStore. */
export const contentSecretName = (store: string): string => `datastore-${store}`;

/** Maps value names to their entries in the DataStore. */
export function storeValues({ spec }: DataStore): Map<StoreValue, ContentOrSecret> {
  const { certificateAuthority, clientCertificate } = spec.tlsConfig ?? {};
  const named: [StoreValue, ContentOrSecret | undefined][] = [
    ['ca.crt', certificateAuthority?.certificate],
    ['ca.key', certificateAuthority?.privateKey],
    ['tls.crt', clientCertificate?.certificate],
    ['tls.key', clientCertificate?.privateKey],
    ['username', spec.basicAuth?.username],
    ['password', spec.basicAuth?.password],
  ];
  return new Map(named.filter((entry): entry is [StoreValue, ContentOrSecret] => entry[1] !== undefined));
}

/** Returns the Secret key of a value; inline values are in the content Secret. */
export function placeOf(store: DataStore, value: StoreValue, systemNamespace: string): SecretKey | undefined {
  const said = storeValues(store).get(value);
  if (!said) return undefined;
  if (said.secretReference) {
    const { name = '', namespace = systemNamespace, keyPath } = said.secretReference;
    return { secret: { namespace, name }, key: keyPath };
  }
  return { secret: { namespace: systemNamespace, name: contentSecretName(store.metadata.name ?? '') }, key: value };
}

/** Returns a value; undefined while its Secret is missing. */
export function readValue(
  store: DataStore,
  value: StoreValue,
  systemNamespace: string,
  read: (key: ObjectKey) => Secret | undefined,
): string | undefined {
  const place = placeOf(store, value, systemNamespace);
  return place && secretText(read(place.secret), place.key);
}

/** Reads all Secrets that a DataStore refers to. */
export async function storeSecrets(
  access: Parameters<typeof readSecret>[0],
  store: DataStore,
  systemNamespace: string,
): Promise<(key: ObjectKey) => Secret | undefined> {
  const found = new Map<string, Secret | undefined>();
  for (const value of storeValues(store).keys()) {
    const place = placeOf(store, value, systemNamespace);
    if (!place || found.has(formatKey(place.secret))) continue;
    // a Secret outside the cache is not readable for this manager; a new one triggers a reconcile
    if (!access.cache.lister(Secrets).get(place.secret)) continue;
    found.set(formatKey(place.secret), await readSecret(access, place.secret));
  }
  return (key) => found.get(formatKey(key));
}

/** Describes the missing values of a DataStore; empty if there are none. */
export function missingValues(
  store: DataStore,
  systemNamespace: string,
  read: (key: ObjectKey) => Secret | undefined,
): string[] {
  const missing: string[] = [];
  for (const value of storeValues(store).keys()) {
    const place = placeOf(store, value, systemNamespace);
    if (!place || secretText(read(place.secret), place.key) !== undefined) continue;
    missing.push(`Secret ${formatKey(place.secret)} has no key ${place.key}`);
  }
  return missing;
}
