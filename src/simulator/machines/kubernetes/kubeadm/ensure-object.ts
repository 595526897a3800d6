import { builtinDefinitions } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { isAlreadyExists, type KubeObject, parseApiVersion, type Resource } from '../../../../machinery/index.ts';

const resources: ReadonlyMap<string, Resource<KubeObject>> = new Map(
  builtinDefinitions.flatMap(({ group, kind, plural, namespaced, versions }) =>
    versions.map(({ name: version }) => [
      `${group}/${version}/${kind}`,
      { group, version, kind, plural, namespaced } as Resource<KubeObject>,
    ]),
  ),
);

/** Creates missing objects in order, and updates existing ones to the desired state. */
export async function ensureObjects(
  client: Client,
  objects: readonly KubeObject[],
  fieldManager: string,
): Promise<void> {
  for (const object of objects) {
    const { group, version } = parseApiVersion(object.apiVersion);
    const resource = resources.get(`${group}/${version}/${object.kind}`);
    if (!resource) throw new TypeError(`${object.apiVersion} ${object.kind} is no built-in kind`);
    try {
      await client.create(resource, object, { fieldManager });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await client.apply(resource, object, { fieldManager, force: true });
    }
  }
}
