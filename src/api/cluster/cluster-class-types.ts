import type { JsonValue, KubeObject } from '../../machinery/index.ts';
import type {
  ConditionGate,
  DeletionOrder,
  DeprecatedCondition,
  MachineDeploymentRemediation,
  MachineTaint,
  NodeDeletion,
  RolloutStrategy,
  StatusCondition,
  TemplateMetadata,
  TemplateReference,
  TopologyHealthCheck,
  TopologyRemediation,
} from './types.ts';

export interface ClassTemplate {
  templateRef: TemplateReference;
}

export interface ClassNaming {
  template?: string;
}

export type ClassHealthCheck<Remediation = TopologyRemediation> = Omit<TopologyHealthCheck<Remediation>, 'enabled'>;

export interface ControlPlaneClass {
  metadata?: TemplateMetadata;
  templateRef: TemplateReference;
  machineInfrastructure?: ClassTemplate;
  healthCheck?: ClassHealthCheck;
  naming?: ClassNaming;
  deletion?: NodeDeletion;
  readinessGates?: ConditionGate[];
  taints?: MachineTaint[];
}

export interface MachineDeploymentClass {
  class: string;
  metadata?: TemplateMetadata;
  bootstrap: ClassTemplate;
  infrastructure: ClassTemplate;
  healthCheck?: ClassHealthCheck<MachineDeploymentRemediation>;
  failureDomain?: string;
  naming?: ClassNaming;
  deletion?: NodeDeletion & { order?: DeletionOrder };
  minReadySeconds?: number;
  readinessGates?: ConditionGate[];
  taints?: MachineTaint[];
  rollout?: { strategy?: RolloutStrategy };
}

export interface MachinePoolClass {
  class: string;
  metadata?: TemplateMetadata;
  bootstrap: ClassTemplate;
  infrastructure: ClassTemplate;
  failureDomains?: string[];
  naming?: ClassNaming;
  deletion?: NodeDeletion;
  minReadySeconds?: number;
  taints?: MachineTaint[];
}

export interface VariableValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  fieldPath?: string;
}

/** The subset of JSON schema that describes a variable. Nested schemas are validated when the class is written. */
export interface VariableSchema {
  description?: string;
  example?: JsonValue;
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  properties?: JsonValue;
  additionalProperties?: JsonValue;
  maxProperties?: number;
  minProperties?: number;
  required?: string[];
  items?: JsonValue;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  format?: string;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  enum?: JsonValue[];
  default?: JsonValue;
  'x-kubernetes-validations'?: VariableValidationRule[];
  'x-metadata'?: TemplateMetadata;
  'x-kubernetes-int-or-string'?: boolean;
  allOf?: JsonValue;
  oneOf?: JsonValue;
  anyOf?: JsonValue;
  not?: JsonValue;
}

export interface ClassVariable {
  name: string;
  required: boolean;
  deprecatedV1Beta1Metadata?: TemplateMetadata;
  schema: { openAPIV3Schema: VariableSchema };
}

export interface PatchSelector {
  apiVersion: string;
  kind: string;
  matchResources: {
    controlPlane?: boolean;
    infrastructureCluster?: boolean;
    machineDeploymentClass?: { names?: string[] };
    machinePoolClass?: { names?: string[] };
  };
}

export interface ClassJsonPatch {
  op: 'add' | 'replace' | 'remove';
  path: string;
  value?: JsonValue;
  valueFrom?: { variable?: string; template?: string };
}

export interface PatchDefinition {
  selector: PatchSelector;
  jsonPatches: ClassJsonPatch[];
}

export interface ExternalPatch {
  generatePatchesExtension?: string;
  validateTopologyExtension?: string;
  discoverVariablesExtension?: string;
  settings?: Record<string, string>;
}

export interface ClassPatch {
  name: string;
  description?: string;
  enabledIf?: string;
  definitions?: PatchDefinition[];
  external?: ExternalPatch;
}

export interface ClusterClassSpec {
  availabilityGates?: ConditionGate[];
  infrastructure: ClassTemplate & { naming?: ClassNaming };
  controlPlane: ControlPlaneClass;
  workers?: { machineDeployments?: MachineDeploymentClass[]; machinePools?: MachinePoolClass[] };
  variables?: ClassVariable[];
  patches?: ClassPatch[];
  upgrade?: { external?: { generateUpgradePlanExtension?: string } };
  kubernetesVersions?: string[];
}

export interface VariableDefinition {
  /** `inline`, or the name of the patch whose extension defines the variable */
  from: string;
  required: boolean;
  deprecatedV1Beta1Metadata?: TemplateMetadata;
  schema: { openAPIV3Schema: VariableSchema };
}

export interface ClassVariableStatus {
  name: string;
  definitionsConflict?: boolean;
  definitions: VariableDefinition[];
}

export interface ClusterClassStatus {
  conditions?: StatusCondition[];
  variables?: ClassVariableStatus[];
  observedGeneration?: number;
  deprecated?: { v1beta1?: { conditions?: DeprecatedCondition[] } };
}

/** A reusable definition of a cluster. Clusters refer to it in `spec.topology`. */
export interface ClusterClass extends KubeObject {
  spec: ClusterClassSpec;
  status?: ClusterClassStatus;
}
