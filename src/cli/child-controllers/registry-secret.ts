import { type Secret, Secrets } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { accessNamespace } from '../../controllers/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import { systemNamespace } from '../controller-identity.ts';

/** On a parent: the registry credentials for the controller image of its clusters. */
export const registryKey: { namespace: string; name: string } = {
  namespace: accessNamespace,
  name: 'lattice-registry',
};

export const findRegistrySecret = (parent: Client, signal: AbortSignal): Promise<Secret | undefined> =>
  parent.get(Secrets, registryKey, { signal }).catch(ignoreNotFound);

/** Returns copies for the controller Pods and for clusters of the cluster. */
export function registryCopies({ type, data = {} }: Secret): Secret[] {
  return [systemNamespace, registryKey.namespace].map((namespace) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: registryKey.name },
    ...(type !== undefined && { type }),
    data,
  }));
}
