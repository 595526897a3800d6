import { type ContentOrSecret, type DataStore, type Secret, Secrets } from '../../../../api/index.ts';
import { formatKey, type ObjectKey } from '../../../../client/index.ts';
import { readSecret, secretText } from '../../../shared/index.ts';

/** What a DataStore says by a Secret or by itself. */
export type StoreValue = 'ca.crt' | 'ca.key' | 'tls.crt' | 'tls.key' | 'username' | 'password';

/** A key of a Secret. */
export interface SecretKey {
  readonly secret: ObjectKey;
  readonly key: string;
}

/** Where values are kept that stand in a DataStore itself. */
export const contentSecretName = (store: string): string => `datastore-${store}`;

/** The values a DataStore has, by the name they have here. */
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

/** Where a value is, once what stands in the DataStore itself has been put into its Secret. */
export function placeOf(store: DataStore, value: StoreValue, systemNamespace: string): SecretKey | undefined {
  const said = storeValues(store).get(value);
  if (!said) return undefined;
  if (said.secretReference) {
    const { name = '', namespace = systemNamespace, keyPath } = said.secretReference;
    return { secret: { namespace, name }, key: keyPath };
  }
  return { secret: { namespace: systemNamespace, name: contentSecretName(store.metadata.name ?? '') }, key: value };
}

/** The text of a value; undefined while its Secret is missing. */
export function readValue(
  store: DataStore,
  value: StoreValue,
  systemNamespace: string,
  read: (key: ObjectKey) => Secret | undefined,
): string | undefined {
  const place = placeOf(store, value, systemNamespace);
  return place && secretText(read(place.secret), place.key);
}

/** The Secrets a DataStore names, read before they are needed. */
export async function storeSecrets(
  access: Parameters<typeof readSecret>[0],
  store: DataStore,
  systemNamespace: string,
): Promise<(key: ObjectKey) => Secret | undefined> {
  const found = new Map<string, Secret | undefined>();
  for (const value of storeValues(store).keys()) {
    const place = placeOf(store, value, systemNamespace);
    if (!place || found.has(formatKey(place.secret))) continue;
    // what the cache does not cover is none of ours; what is new is told
    if (!access.cache.lister(Secrets).get(place.secret)) continue;
    found.set(formatKey(place.secret), await readSecret(access, place.secret));
  }
  return (key) => found.get(formatKey(key));
}

/** What is missing among the values a DataStore names, in words; empty when nothing is. */
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
