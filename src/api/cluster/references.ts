import { formatApiVersion, isJsonObject, parseApiVersion } from '../../machinery/index.ts';
import type { Mapping } from '../kind/mapping.ts';

/** Providers whose API version differs from the core version of the same time. */
const exceptions: Readonly<Record<string, string>> = {
  'KamajiControlPlane.controlplane.cluster.x-k8s.io': 'v1alpha1',
  'KamajiControlPlaneTemplate.controlplane.cluster.x-k8s.io': 'v1alpha1',
};

/**
 * Returns the API version that an old reference to a provider object names. Upstream reads it from the contract label
 * of the CustomResourceDefinition. Providers in the groups of Cluster API used the version of the core.
 */
export function contractApiVersion(apiGroup: string, kind: string, coreVersion: string): string {
  return formatApiVersion(apiGroup, exceptions[`${kind}.${apiGroup}`] ?? coreVersion);
}

/** ObjectReference <-> {apiGroup, kind, name} in the same namespace */
export const reference: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { apiVersion, kind, name } = value;
    const apiGroup = typeof apiVersion === 'string' ? parseApiVersion(apiVersion).group : '';
    return { apiGroup, kind, name };
  },
  down(value, { namespace, version }) {
    if (!isJsonObject(value)) return undefined;
    const { apiGroup, kind, name } = value;
    return {
      apiVersion: contractApiVersion(String(apiGroup ?? ''), String(kind ?? ''), version),
      kind,
      name,
      namespace,
    };
  },
};

/** ObjectReference <-> {apiVersion, kind, name}; the version is kept */
export const templateReferenceMapping: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { apiVersion, kind, name } = value;
    return { apiVersion, kind, name };
  },
  down(value, { namespace }) {
    if (!isJsonObject(value)) return undefined;
    return { apiVersion: value['apiVersion'], kind: value['kind'], name: value['name'], namespace };
  },
};

/** ObjectReference <-> {name} of a Node */
export const nodeReference: Mapping = {
  up: (value) => (isJsonObject(value) && value['name'] !== undefined ? { name: value['name'] } : undefined),
  down: (value) => (isJsonObject(value) ? { apiVersion: 'v1', kind: 'Node', name: value['name'] } : undefined),
};
