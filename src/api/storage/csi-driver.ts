import {
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { validateEnum } from '../common/validation.ts';

export interface CsiDriver extends KubeObject {
  spec?: {
    attachRequired?: boolean;
    podInfoOnMount?: boolean;
    volumeLifecycleModes?: string[];
    storageCapacity?: boolean;
    fsGroupPolicy?: string;
    tokenRequests?: { audience: string; expirationSeconds?: number }[];
    requiresRepublish?: boolean;
    seLinuxMount?: boolean;
  };
}

function validate(driver: CsiDriver): FieldError[] {
  const spec = driver.spec ?? {};
  const policies = ['File', 'None', 'ReadWriteOnceWithFSType'];
  const errors = validateEnum(spec.fsGroupPolicy, policies, 'spec.fsGroupPolicy');
  const audiences = new Set<string>();
  for (const [index, { audience, expirationSeconds }] of (spec.tokenRequests ?? []).entries()) {
    const path = `spec.tokenRequests[${index}]`;
    if (audiences.has(audience)) errors.push(fieldError.duplicate(`${path}.audience`, audience));
    audiences.add(audience);
    if (expirationSeconds !== undefined && expirationSeconds < 600) {
      const text = 'may not specify a duration less than 10 minutes';
      errors.push(fieldError.invalid(`${path}.expirationSeconds`, expirationSeconds, text));
    }
  }
  for (const mode of spec.volumeLifecycleModes ?? []) {
    errors.push(...validateEnum(mode, ['Persistent', 'Ephemeral'], 'spec.volumeLifecycleModes'));
  }
  return errors;
}

export const csiDriverDefinition: ResourceDefinition = defineBuiltin<CsiDriver>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  namespaced: false,
  component: 'io.k8s.api.storage.v1.CSIDriver',
  conditionalUpdatesOnly: true,
  noGeneration: true,
  columns: [
    nameColumn,
    column('AttachRequired', 'boolean'),
    column('PodInfoOnMount', 'boolean'),
    column('StorageCapacity', 'boolean'),
    column('TokenRequests'),
    column('RequiresRepublish', 'boolean'),
    column('Modes'),
    ageColumn,
  ],
  row({ metadata, spec = {}, ...rest }, nowMs) {
    return [
      metadata.name ?? '',
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests?.map((request) => request.audience).join(',') ?? '<unset>',
      spec.requiresRepublish ?? false,
      (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
      age({ metadata, ...rest }, nowMs),
    ];
  },
  applyDefaults(driver) {
    const spec = setDefault(driver, 'spec', {});
    setDefault(spec, 'attachRequired', true);
    setDefault(spec, 'podInfoOnMount', false);
    setDefault(spec, 'storageCapacity', false);
    setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
    setDefault(spec, 'requiresRepublish', false);
    setDefault(spec, 'seLinuxMount', false);
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
  },
  validateCreate: validate,
  validateUpdate: (driver, old) => [
    ...validate(driver),
    // upstream misspells this path
    ...validateImmutable(driver.spec?.attachRequired, old.spec?.attachRequired, 'spec.attachedRequired'),
    ...validateImmutable(
      driver.spec?.volumeLifecycleModes,
      old.spec?.volumeLifecycleModes,
      'spec.volumeLifecycleModes',
    ),
  ],
});

export const CsiDrivers: Resource<CsiDriver> = resourceOf<CsiDriver>(csiDriverDefinition);
