import { Namespaces } from '../../api/index.ts';
import {
  asUnstructured,
  CapstanError,
  errorMessage,
  isInvalid,
  type JsonObject,
  parseApiVersion,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { ManifestDocument } from '../manifests/read-manifests.ts';
import { startMemoryApi } from '../memory-api.ts';

/** Refuses a manifest that the API would refuse. Unknown kinds are not checked: other programs may serve them. */
export async function checkObjects(documents: readonly ManifestDocument[], signal: AbortSignal): Promise<void> {
  const { connection, close } = await startMemoryApi();
  const { client, mapper } = connection;
  const by = { fieldManager: 'capstan', signal };
  try {
    const namespaces = new Set(documents.map(({ object }) => namespaceOf(object.metadata)));
    for (const name of namespaces) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      if (name !== 'default') await client.create(Namespaces, namespace, by);
    }
    for (const { object } of documents) {
      const { group, version } = parseApiVersion(object.apiVersion);
      const found = await mapper.forKind({ group, version, kind: object.kind });
      if (!found) continue;
      const resource = { group, version, kind: object.kind, plural: found.plural, namespaced: found.namespaced };
      const desired: UnstructuredObject = asUnstructured(object);
      await client.create(resource, desired, { ...by, dryRun: true });
    }
  } catch (error) {
    if (!isInvalid(error)) throw error;
    throw new CapstanError('CAP_TEMPLATE', `the API would refuse the result: ${errorMessage(error)}`, {
      cause: error,
      hint: 'correct the name, the flags and the variables',
    });
  } finally {
    await close();
  }
}

const namespaceOf = (metadata: JsonObject): string =>
  typeof metadata['namespace'] === 'string' ? metadata['namespace'] : 'default';
