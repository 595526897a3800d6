import { ConfigMaps, type Pod, Secrets } from '../../../../api/index.ts';
import { configMapNames, secretNames } from '../../../../apiserver/index.ts';
import type { Client } from '../../../../client/index.ts';
import type { ClusterNode } from '../../../../simkube/index.ts';

const kinds = [
  { kind: 'secret', resource: Secrets, namesIn: secretNames },
  { kind: 'configmap', resource: ConfigMaps, namesIn: configMapNames },
] as const;

/** Detects changes of Secrets and ConfigMaps that Pods of a node use, by polling like a kubelet. */
export class MountedObjects {
  readonly #client: Client;
  readonly #node: ClusterNode;
  /** resource versions; undefined: the object does not exist */
  readonly #seen = new Map<string, string | undefined>();

  constructor(client: Client, node: ClusterNode) {
    this.#client = client;
    this.#node = node;
  }

  async look(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const named = new Set<string>();
    for (const { kind, resource, namesIn } of kinds) {
      for (const { metadata, spec } of pods) {
        const { namespace = '' } = metadata;
        for (const name of namesIn(spec as object)) {
          const id = `${kind} ${namespace}/${name}`;
          if (named.has(id)) continue;
          named.add(id);
          const found = await this.#client.get(resource, { namespace, name }, { signal }).catch(() => undefined);
          const version = found?.metadata.resourceVersion;
          // Also notifies on first sight, because the object may have changed since it was mounted.
          if (!this.#seen.has(id) || this.#seen.get(id) !== version) this.#node.objectChanged(kind, namespace, name);
          this.#seen.set(id, version);
        }
      }
    }
    for (const id of this.#seen.keys()) if (!named.has(id)) this.#seen.delete(id);
  }
}
