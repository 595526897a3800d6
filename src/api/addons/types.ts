import type { KubeObject } from '../../machinery/index.ts';
import type { DeprecatedCondition, LabelSelector, StatusCondition } from '../cluster/types.ts';

export interface ClusterResource {
  kind: 'Secret' | 'ConfigMap';
  name: string;
}

export interface ClusterResourceSetSpec {
  clusterSelector: LabelSelector;
  resources: ClusterResource[];
  strategy?: 'ApplyOnce' | 'Reconcile';
}

export interface ClusterResourceSetStatus {
  conditions?: StatusCondition[];
  observedGeneration?: number;
  deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } };
}

/** Objects, kept in Secrets and ConfigMaps, that clusters with certain labels get. */
export interface ClusterResourceSet extends KubeObject {
  spec: ClusterResourceSetSpec;
  status?: ClusterResourceSetStatus;
}

/** What was applied of one Secret or ConfigMap. */
export interface ResourceBinding extends ClusterResource {
  hash?: string;
  lastAppliedTime?: string;
  applied: boolean;
}

export interface ResourceSetBinding {
  clusterResourceSetName: string;
  resources?: ResourceBinding[];
}

/** What one cluster got from which ClusterResourceSet. Named like the Cluster. */
export interface ClusterResourceSetBinding extends KubeObject {
  spec: { clusterName: string; bindings?: ResourceSetBinding[] };
}
