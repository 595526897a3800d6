import { CustomResourceDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';

export interface HelmRelease {
  readonly namespace: string;
  readonly name: string;
}

/** Helm release of the cluster stack operator in guides. */
const stackOperator: HelmRelease = { name: 'cso', namespace: 'cso-system' };
const managedByLabel = 'app.kubernetes.io/managed-by';
const releaseNameAnnotation = 'meta.helm.sh/release-name';
const releaseNamespaceAnnotation = 'meta.helm.sh/release-namespace';

/** Metadata that allows Helm to adopt an object for a release. */
export const offeredTo = ({
  name,
  namespace,
}: HelmRelease): { labels: Record<string, string>; annotations: Record<string, string> } => ({
  labels: { [managedByLabel]: 'Helm' },
  annotations: { [releaseNameAnnotation]: name, [releaseNamespaceAnnotation]: namespace },
});

/**
 * Marks the definitions of cluster stacks for Helm, which installs over existing definitions only if they claim to
 * belong to the release. These kinds are built in, and the operator's chart contains their definitions. Other marks are
 * kept.
 */
export async function offerToHelm(client: Client, signal: AbortSignal): Promise<void> {
  const { items } = await client.list(CustomResourceDefinitions, { signal });
  for (const { metadata, spec } of items) {
    if (spec.group !== 'clusterstack.x-k8s.io' || metadata.annotations?.[releaseNameAnnotation] !== undefined) continue;
    const patch = { metadata: offeredTo(stackOperator) };
    const key = { name: metadata.name ?? '' };
    await client.patch(CustomResourceDefinitions, key, 'merge', patch, { fieldManager: 'capstan', signal });
  }
}
