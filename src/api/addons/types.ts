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

/** Applies objects kept in Secrets and ConfigMaps to all clusters that match a label selector. */
export interface ClusterResourceSet extends KubeObject {
  spec: ClusterResourceSetSpec;
  status?: ClusterResourceSetStatus;
}

/** Result of applying one Secret or ConfigMap. */
export interface ResourceBinding extends ClusterResource {
  hash?: string;
  lastAppliedTime?: string;
  applied: boolean;
}

export interface ResourceSetBinding {
  clusterResourceSetName: string;
  resources?: ResourceBinding[];
}

/** Records the resources that each ClusterResourceSet applied to one cluster. It has the same name as the Cluster. */
export interface ClusterResourceSetBinding extends KubeObject {
  spec: { clusterName: string; bindings?: ResourceSetBinding[] };
}
