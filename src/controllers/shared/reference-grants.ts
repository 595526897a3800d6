import { type CrossReference, grantsReference, type ReferenceGrant, ReferenceGrants } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, parseApiVersion, type Resource } from '../../machinery/index.ts';

// Namespaces separate tenants. An object may refer to another namespace only with a ReferenceGrant there. All
// references to Secrets and backups are checked here before anything is read, so that without a grant even the
// existence stays hidden.

/** older Gateway APIs serve grants only in this version */
const servedVersions: readonly Resource<ReferenceGrant>[] = [
  ReferenceGrants,
  { ...ReferenceGrants, version: 'v1beta1' },
];

/** Tells whether a reference is allowed: always within a namespace, otherwise with a grant. */
export async function mayRefer(client: Client, reference: CrossReference, signal: AbortSignal): Promise<boolean> {
  const { from, to } = reference;
  if (from.namespace === to.namespace) return true;
  const grants = await grantsOf(client, to.namespace, signal);
  return grants.some((grant) => grantsReference(grant, reference));
}

async function grantsOf(client: Client, namespace: string, signal: AbortSignal): Promise<readonly ReferenceGrant[]> {
  for (const resource of servedVersions) {
    try {
      return (await client.list(resource, { namespace, signal })).items;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return [];
}

/** Explains why a foreign object is not used, and what its owner can do. */
export function missingGrant({ from, to }: CrossReference): string {
  return (
    `${to.kind} ${to.namespace}/${to.name} is in another namespace, and no ReferenceGrant there lets ` +
    `${from.kind} objects (group ${from.group}) of namespace ${from.namespace} refer to it`
  );
}

/** Builds the `from` side of a reference. */
export function referrer({ apiVersion, kind, metadata }: KubeObject): CrossReference['from'] {
  return { group: parseApiVersion(apiVersion).group, kind, namespace: metadata.namespace ?? '' };
}

/** Builds the `to` side for a Secret. */
export const secretTarget = (namespace: string, name: string): CrossReference['to'] => ({
  group: '',
  kind: 'Secret',
  namespace,
  name,
});
