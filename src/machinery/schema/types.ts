import type { JsonValue } from '../json/value.ts';

/** A CEL rule on a schema node (x-kubernetes-validations). */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/**
 * A structural OpenAPI v3 schema, as CRDs contain it and as built-in kinds are described. Schemas are immutable and
 * shared. A node may have many parents and may contain itself (JSONSchemaProps), so walkers must follow the data, not
 * the schema.
 */
export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  title?: string;
  description?: string;
  default?: JsonValue;
  example?: JsonValue;
  externalDocs?: { description?: string; url?: string };
  nullable?: boolean;
  enum?: JsonValue[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-validations'?: ValidationRule[];
  /** for strategic merge patches of built-in kinds: `merge`, `replace`, `retainKeys`, comma separated */
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  /** fields by discriminator value; documentation only */
  'x-kubernetes-unions'?: JsonValue[];
  /** name of the shared OpenAPI component of this node, e.g. io.k8s.api.core.v1.PodSpec; never published */
  component?: string;
  /**
   * For a node that refers to a component and adds members of its own (default, description, patch strategy): the node
   * of the component, to compute the difference. Not enumerable, never published.
   */
  componentSchema?: Schema;
}
