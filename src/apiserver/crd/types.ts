import type { Condition, KubeObject, Schema } from '../../machinery/index.ts';

/** Keeps a deleted definition until its last object is gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** The part of apiextensions.k8s.io/v1 that the server reads. */
export interface CustomResourceDefinition extends KubeObject {
  spec: CrdSpec;
  status?: CrdStatus;
}

export interface CrdSpec {
  group: string;
  names: CrdNames;
  scope: 'Cluster' | 'Namespaced';
  versions: CrdVersion[];
  conversion?: CrdConversion;
  preserveUnknownFields?: boolean;
}

export interface CrdNames {
  plural: string;
  singular?: string;
  shortNames?: string[];
  kind: string;
  listKind?: string;
  categories?: string[];
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: CrdSubresources;
  additionalPrinterColumns?: CrdColumn[];
  selectableFields?: CrdSelectableField[];
}

export interface CrdSubresources {
  status?: Record<string, never>;
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
}

export interface CrdColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

export interface CrdSelectableField {
  jsonPath: string;
}

export interface CrdConversion {
  strategy: 'None' | 'Webhook';
  webhook?: {
    clientConfig?: {
      url?: string;
      service?: { namespace: string; name: string; path?: string; port?: number };
      caBundle?: string;
    };
    conversionReviewVersions?: string[];
  };
}

export interface CrdStatus {
  conditions?: Condition[] | null;
  acceptedNames?: CrdNames;
  storedVersions?: string[];
}

export function isCrdConditionTrue(crd: CustomResourceDefinition, type: string): boolean {
  return crd.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
