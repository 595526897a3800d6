import type { ManifestDocument } from './read-manifests.ts';

/** Creation order of kinds that others depend on; the rest has no order. */
const ranks: Readonly<Record<string, number>> = {
  Namespace: 0,
  CustomResourceDefinition: 1,
  ServiceAccount: 2,
  ClusterRole: 2,
  Role: 2,
  Secret: 3,
  ConfigMap: 3,
};
const usualRank = 4;

/** Sorts documents in creation order; equal ranks keep their order. */
export function creationOrder(documents: readonly ManifestDocument[]): ManifestDocument[] {
  return creationSteps(documents.map((document) => ({ document }))).flatMap((step) =>
    step.map(({ document }) => document),
  );
}

/** Groups documents by rank: each step depends on the previous ones. */
export function creationSteps<T extends { document: ManifestDocument }>(documents: readonly T[]): T[][] {
  const steps: T[][] = Array.from({ length: usualRank + 1 }, () => []);
  for (const one of documents) steps[ranks[one.document.object.kind] ?? usualRank]?.push(one);
  return steps.filter((step) => step.length > 0);
}

export function isDefinition({ object }: ManifestDocument): boolean {
  return object.kind === 'CustomResourceDefinition' && object.apiVersion.startsWith('apiextensions.k8s.io/');
}

export function isCluster({ object }: ManifestDocument): boolean {
  return object.kind === 'Cluster' && object.apiVersion.startsWith('cluster.x-k8s.io/');
}
