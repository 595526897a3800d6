import { Namespaces } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound, isAlreadyExists } from '../../../machinery/index.ts';
import { latticeFieldManager } from '../names.ts';
import { accessNamespace } from './names.ts';

/** Ensures the namespace with the links between parents and their clusters. */
export async function ensureAccessNamespace(client: Client, signal: AbortSignal): Promise<void> {
  if (await client.get(Namespaces, { name: accessNamespace }, { signal }).catch(ignoreNotFound)) return;
  const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: accessNamespace } };
  await client.create(Namespaces, home, { fieldManager: latticeFieldManager, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
