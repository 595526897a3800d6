import type { ApiServer } from '../../../apiserver/index.ts';
import type { Client } from '../../../client/index.ts';
import { type KubeObject, parseApiVersion, type Resource } from '../../../machinery/index.ts';

export const fieldManager = 'k0s';

/** Writes objects of any kind to a cluster. */
export interface ObjectWriter {
  readonly server: ApiServer;
  readonly client: Client;
}

/** Finds the resource of a kind; undefined while the API does not serve it. */
export function resourceOfKind(
  { registry }: ApiServer,
  apiVersion: string,
  kind: string,
): Resource<KubeObject> | undefined {
  const { group, version } = parseApiVersion(apiVersion);
  for (const { definition } of registry.all()) {
    if (definition.group !== group || definition.kind !== kind) continue;
    if (!definition.versions.some(({ name, served }) => served && name === version)) return undefined;
    return { group, version, kind, plural: definition.plural, namespaced: definition.namespaced };
  }
  return undefined;
}

/** Applies an object. Throws if its kind is not served. */
export async function applyObject({ server, client }: ObjectWriter, object: KubeObject): Promise<void> {
  const { apiVersion = '', kind = '' } = object;
  const resource = resourceOfKind(server, apiVersion, kind);
  if (!resource) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
  const namespaced = resource.namespaced && object.metadata.namespace === undefined;
  const desired = namespaced ? { ...object, metadata: { ...object.metadata, namespace: 'default' } } : object;
  await client.apply(resource, desired, { fieldManager, force: true });
}
