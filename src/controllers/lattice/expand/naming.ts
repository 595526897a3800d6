import { createHash } from 'node:crypto';
import { type LatticeCluster, LatticeClusters, latticeNamespace } from '../../../api/index.ts';
import {
  asUnstructured,
  formatApiVersion,
  type KubeObject,
  type ObjectMeta,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { ownerReference } from '../../shared/index.ts';
import { latticeClusterLabel } from '../names.ts';

/** An object of a LatticeCluster, with its pool if it belongs to one. */
export interface ExpandedObject {
  readonly resource: Resource<UnstructuredObject>;
  readonly object: UnstructuredObject;
  readonly pool?: string;
}

/** Creates objects in the namespace of one LatticeCluster, with it as owner. */
export interface Maker {
  readonly cluster: string;
  make<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    content: Omit<T, keyof KubeObject> & { metadata?: ObjectMeta },
    pool?: string,
  ): ExpandedObject;
}

export function makerFor(owner: LatticeCluster): Maker {
  const cluster = owner.metadata.name ?? '';
  return {
    cluster,
    make(resource, name, { metadata, ...content }, pool) {
      const { group, version, kind, plural, namespaced } = resource;
      return {
        resource: { group, version, kind, plural, namespaced },
        object: asUnstructured({
          apiVersion: formatApiVersion(group, version),
          kind,
          metadata: {
            ...metadata,
            name,
            namespace: latticeNamespace(cluster),
            labels: { ...metadata?.labels, [latticeClusterLabel]: cluster },
            ownerReferences: [ownerReference(owner, LatticeClusters)],
          },
          ...content,
        }),
        ...(pool !== undefined && { pool }),
      };
    },
  };
}

/** Templates are immutable: changed content gets a new name, which triggers a rollout. */
export function templateName(name: string, content: unknown): string {
  return `${name}-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 8)}`;
}
