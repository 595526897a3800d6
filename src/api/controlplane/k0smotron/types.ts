import type { KubeObject } from '../../../machinery/index.ts';
import type { StatusCondition } from '../../cluster/types.ts';
import type { EmbeddedMetadata, K0smotronClusterSpec } from '../../k0smotron/types.ts';

export interface K0smotronControlPlaneStatus {
  initialization?: { controlPlaneInitialized?: boolean };
  externalManagedControlPlane?: boolean;
  version?: string;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
  selector?: string;
  conditions?: StatusCondition[];
}

export interface K0smotronControlPlane extends KubeObject {
  spec: K0smotronClusterSpec;
  status?: K0smotronControlPlaneStatus;
}

export interface K0smotronControlPlaneTemplateSpec {
  template?: { metadata?: EmbeddedMetadata; spec?: K0smotronClusterSpec };
}

export interface K0smotronControlPlaneTemplate extends KubeObject {
  spec: K0smotronControlPlaneTemplateSpec;
}
