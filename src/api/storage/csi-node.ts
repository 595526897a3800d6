import {
  deepEqual,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { validateRequiredText } from '../common/validation.ts';
import { validateDriverName } from './storage-class.ts';

export interface CsiNodeDriver {
  name: string;
  nodeID: string;
  topologyKeys?: string[] | null;
  allocatable?: { count?: number };
}

export interface CsiNode extends KubeObject {
  spec?: { drivers?: CsiNodeDriver[] };
}

function validate(node: CsiNode): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, driver] of (node.spec?.drivers ?? []).entries()) {
    const path = `spec.drivers[${index}]`;
    errors.push(...validateDriverName(driver.name, `${path}.name`));
    errors.push(...validateRequiredText(driver.nodeID, `${path}.nodeID`));
    if (names.has(driver.name)) errors.push(fieldError.duplicate(`${path}.name`, driver.name));
    names.add(driver.name);
  }
  return errors;
}

export const csiNodeDefinition: ResourceDefinition = defineBuiltin<CsiNode>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  plural: 'csinodes',
  namespaced: false,
  component: 'io.k8s.api.storage.v1.CSINode',
  conditionalUpdatesOnly: true,
  noGeneration: true,
  columns: [nameColumn, column('Drivers', 'integer'), ageColumn],
  row: (node, nowMs) => [node.metadata.name ?? '', (node.spec?.drivers ?? []).length, age(node, nowMs)],
  applyDefaults(node) {
    setDefault(setDefault(node, 'spec', {}), 'drivers', []);
  },
  validateCreate: validate,
  validateUpdate(node, old) {
    const errors = validate(node);
    const known = new Map((old.spec?.drivers ?? []).map((driver) => [driver.name, driver]));
    for (const driver of node.spec?.drivers ?? []) {
      const before = known.get(driver.name);
      if (before && !deepEqual({ ...driver, allocatable: undefined }, { ...before, allocatable: undefined })) {
        errors.push(fieldError.invalid('spec.drivers', driver, 'field is immutable'));
      }
    }
    return errors;
  },
});

export const CsiNodes: Resource<CsiNode> = resourceOf<CsiNode>(csiNodeDefinition);
