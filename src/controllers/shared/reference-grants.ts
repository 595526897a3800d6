import { type CrossReference, grantsReference, type ReferenceGrant, ReferenceGrants } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, parseApiVersion, type Resource } from '../../machinery/index.ts';

// A namespace is a wall between tenants. An object may name something of another namespace only where that namespace says so
// with a ReferenceGrant. Everything of ours that names a Secret or a backup elsewhere asks here, before it reads anything: who
// has no grant does not learn either whether the object exists.

/** management APIs with an older Gateway API serve grants in this version only */
const servedVersions: readonly Resource<ReferenceGrant>[] = [
  ReferenceGrants,
  { ...ReferenceGrants, version: 'v1beta1' },
];

/** Whether an object may be named: in the same namespace always, in another one with a grant there. */
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

/** Why something of another namespace is not used, and what its owner can do about it. */
export function missingGrant({ from, to }: CrossReference): string {
  return (
    `${to.kind} ${to.namespace}/${to.name} is in another namespace, and no ReferenceGrant there lets ` +
    `${from.kind} objects (group ${from.group}) of namespace ${from.namespace} refer to it`
  );
}

/** The side of a reference that names something. */
export function referrer({ apiVersion, kind, metadata }: KubeObject): CrossReference['from'] {
  return { group: parseApiVersion(apiVersion).group, kind, namespace: metadata.namespace ?? '' };
}

/** A Secret that is named. */
export const secretTarget = (namespace: string, name: string): CrossReference['to'] => ({
  group: '',
  kind: 'Secret',
  namespace,
  name,
});
