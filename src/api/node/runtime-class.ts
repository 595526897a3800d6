import {
  checkDns1123Label,
  type FieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
  validateLabels,
} from '../../machinery/index.ts';
import { canonicalizeResources } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid } from '../common/validation.ts';
import type { Toleration } from '../core/pod-types.ts';
import { validateTolerations } from '../core/pod-validation.ts';

export interface RuntimeClass extends KubeObject {
  handler?: string;
  overhead?: { podFixed?: Record<string, string> };
  scheduling?: { nodeSelector?: Record<string, string>; tolerations?: Toleration[] };
}

function validate(object: RuntimeClass): FieldError[] {
  const handler = object.handler ?? '';
  return [
    ...invalid('handler', handler, checkDns1123Label(handler)),
    ...validateLabels(object.scheduling?.nodeSelector, 'scheduling.nodeSelector'),
    ...validateTolerations(object.scheduling?.tolerations ?? [], 'scheduling.tolerations'),
  ];
}

export const runtimeClassDefinition: ResourceDefinition = defineBuiltin<RuntimeClass>({
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  namespaced: false,
  component: 'io.k8s.api.node.v1.RuntimeClass',
  conditionalUpdatesOnly: true,
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: [nameColumn, column('Handler'), ageColumn],
  row: (object, nowMs) => [object.metadata.name ?? '', object.handler ?? '', age(object, nowMs)],
  applyDefaults(object) {
    canonicalizeResources(object.overhead?.podFixed);
  },
  validateCreate: validate,
  validateUpdate: (object, old) => [...validate(object), ...validateImmutable(object.handler, old.handler, 'handler')],
});

export const RuntimeClasses: Resource<RuntimeClass> = resourceOf<RuntimeClass>(runtimeClassDefinition);
