import { CustomResourceDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';

/** A release of Helm: where it is and what it is called. */
export interface HelmRelease {
  readonly namespace: string;
  readonly name: string;
}

/** The release that guides install the cluster stack operator as. */
const stackOperator: HelmRelease = { name: 'cso', namespace: 'cso-system' };
const managedByLabel = 'app.kubernetes.io/managed-by';
const releaseNameAnnotation = 'meta.helm.sh/release-name';
const releaseNamespaceAnnotation = 'meta.helm.sh/release-namespace';

/** What an object says that Helm may take over for a release. */
export const offeredTo = ({
  name,
  namespace,
}: HelmRelease): { labels: Record<string, string>; annotations: Record<string, string> } => ({
  labels: { [managedByLabel]: 'Helm' },
  annotations: { [releaseNameAnnotation]: name, [releaseNamespaceAnnotation]: namespace },
});

/**
 * Helm installs over definitions that are there only where they say that they belong to the release. The kinds of cluster stacks are
 * built in, and the operator's chart brings their definitions: they say so until somebody says something else.
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
