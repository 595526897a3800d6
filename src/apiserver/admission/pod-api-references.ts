import { configMapNames, type PodSpec, type ProjectedSource, secretNames, type VolumeSpec } from '../pods/pod-spec.ts';

/** Volume sources that refer to API objects, and their names in error messages. */
const volumeReferences: readonly [source: string, what: string][] = [
  ['configMap', 'configmaps (via configmap volumes)'],
  ['secret', 'secrets (via secret volumes)'],
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['azureFile', 'secrets (via azureFile volumes)'],
];

const projectedReferences: readonly [source: string, what: string][] = [
  ['configMap', 'configmaps (via projected volumes)'],
  ['secret', 'secrets (via projected volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
];

/** Returns the first API reference of a pod; undefined if the pod could run without an API server. */
export function apiReference(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (secretNames(spec).length > 0) return 'secrets';
  if (configMapNames(spec).length > 0) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const found = referenceIn(volume, volumeReferences) ?? projectedReference(volume.projected?.sources);
    if (found !== undefined) return found;
  }
  return undefined;
}

function projectedReference(sources: readonly ProjectedSource[] = []): string | undefined {
  for (const source of sources) {
    const found = referenceIn(source, projectedReferences);
    if (found !== undefined) return found;
  }
  return undefined;
}

function referenceIn(
  source: VolumeSpec | ProjectedSource,
  references: readonly [source: string, what: string][],
): string | undefined {
  return references.find(([name]) => (source as Record<string, unknown>)[name] !== undefined)?.[1];
}
