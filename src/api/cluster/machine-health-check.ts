import {
  type FieldError,
  fieldError,
  labelSelectorFromObject,
  type ResourceStrategy,
  validateLabelSelector,
} from '../../machinery/index.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind, type OldVersionSource } from '../kind/define.ts';
import { lenient } from '../kind/lenient.ts';
import { field, fields, type Mapping } from '../kind/mapping.ts';
import { ageColumn, conditionColumn, countColumn, textColumn, wide } from '../kind/printer.ts';
import {
  atomicList,
  type Field,
  type Fields,
  int32,
  int64,
  list,
  object,
  once,
  string,
  type UntypedField,
} from '../kind/schema.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { conditionMappings } from '../kind/values.ts';
import { healthCheckFieldsV1beta1, healthCheckMappings } from './cluster-v1beta1.ts';
import { conditions, deprecatedConditions, labelSelector, text } from './common-schema.ts';
import { clusterGroup, clusterNameLabel } from './labels.ts';
import { healthCheckRemediation, healthChecks } from './topology-schema.ts';
import type { MachineHealthCheck, MachineHealthCheckSpec, MachineHealthCheckStatus } from './types.ts';
import { validateHealthChecks } from './validation.ts';

const identityFields = () => ({
  clusterName: text('Name of the Cluster whose machines are watched.', 63).required(),
  selector: labelSelector().describe('Labels of the machines that are watched.').required(),
});

const spec: () => Field<MachineHealthCheckSpec> = once(() =>
  object({ ...identityFields(), checks: healthChecks(), remediation: healthCheckRemediation() }, 'Desired state.'),
);

const specV1beta1: () => UntypedField = once(() =>
  object({ ...(identityFields() as Fields), ...healthCheckFieldsV1beta1() }, 'Desired state.'),
);

const count = (description: string): Field<number> => int32(description, { minimum: 0 });
const countFields = () => ({
  expectedMachines: count('Machines that are watched.'),
  currentHealthy: count('Machines that are healthy.'),
  remediationsAllowed: count('Machines that may still be remediated now.'),
});
const target = (): Field<string> => string('', { minLength: 1, maxLength: 253 });
const targetsDescription = 'Names of the machines that are watched.';

const status: () => Field<MachineHealthCheckStatus> = once(() =>
  object(
    {
      ...countFields(),
      conditions: conditions(32),
      targets: atomicList(target(), targetsDescription, { maxItems: 10000 }),
      observedGeneration: int64('Generation of the spec that this status describes.', { minimum: 1 }),
      deprecated: object(
        { v1beta1: object({ conditions: deprecatedConditions() }, 'Status in the form of v1beta1.') },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);

const statusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...countFields(),
      conditions: deprecatedConditions(),
      targets: list(target(), targetsDescription, { maxItems: 10000 }),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.'),
    },
    'Observed state.',
  ),
);

const v1beta1: Mapping = fields(
  field('spec', 'spec', fields(...healthCheckMappings)),
  field('status', 'status', fields(...conditionMappings)),
);

const alpha = (
  name: string,
  news: readonly string[],
): Pick<OldVersionSource, 'name' | 'deprecated' | 'spec' | 'status' | 'mapping'> => ({
  name,
  deprecated: true,
  spec: once(() => lenient(specV1beta1(), { without: ['unhealthyMachineConditions', ...news] })),
  status: once(() => lenient(statusV1beta1(), { without: ['v1beta2'] })),
  mapping: v1beta1,
});

const defaultNodeStartupTimeoutSeconds = 600;

const strategy: ResourceStrategy<MachineHealthCheck> = {
  applyDefaults(draft) {
    const { spec, metadata } = draft;
    if (spec === undefined) return;
    if (spec.clusterName !== undefined) {
      metadata.labels = { ...metadata.labels, [clusterNameLabel]: spec.clusterName };
    }
    spec.checks ??= {};
    spec.checks.nodeStartupTimeoutSeconds ??= defaultNodeStartupTimeoutSeconds;
  },
  ...validateChangedSpec<MachineHealthCheck>((object, old) => validate(object, old)),
};

function validate({ spec }: MachineHealthCheck, old: MachineHealthCheck | undefined): FieldError[] {
  // The schema already reports missing fields.
  if (spec?.selector === undefined) return [];
  const { selector, clusterName, checks, remediation } = spec;
  const errors = validateLabelSelector(selector, 'spec.selector');
  if (errors.length === 0 && labelSelectorFromObject(selector).empty) {
    errors.push(fieldError.required('spec.selector', 'selector must not be empty'));
  }
  if ((selector.matchLabels?.[clusterNameLabel] ?? clusterName) !== clusterName) {
    errors.push(
      fieldError.invalid(
        'spec.selector',
        selector,
        'cannot specify a cluster selector other than the one specified by ClusterName',
      ),
    );
  }
  if (old?.spec !== undefined && old.spec.clusterName !== clusterName) {
    errors.push(fieldError.forbidden('spec.clusterName', 'field is immutable'));
  }
  errors.push(...validateHealthChecks({ ...(checks && { checks }), ...(remediation && { remediation }) }, 'spec'));
  return errors;
}

const clusterColumn = textColumn('Cluster', '.spec.clusterName');
const columnsV1beta1 = [
  clusterColumn,
  countColumn('ExpectedMachines', '.status.expectedMachines'),
  textColumn('MaxUnhealthy', '.spec.maxUnhealthy'),
  countColumn('CurrentHealthy', '.status.currentHealthy'),
  ageColumn,
];

export const machineHealthCheckKind: Kind<MachineHealthCheck> = defineKind<MachineHealthCheck>({
  group: clusterGroup,
  kind: 'MachineHealthCheck',
  plural: 'machinehealthchecks',
  shortNames: ['mhc', 'mhcs'],
  description: 'Watches machines and has the unhealthy ones replaced, within limits.',
  labels: contractLabels('cluster-api'),
  strategy,
  hub: {
    name: 'v1beta2',
    spec,
    status,
    specRequired: true,
    columns: [
      clusterColumn,
      countColumn('Replicas', '.status.expectedMachines'),
      countColumn('Healthy', '.status.currentHealthy'),
      conditionColumn('Paused', 'Paused', wide),
      ageColumn,
    ],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: specV1beta1,
      status: statusV1beta1,
      mapping: v1beta1,
      columns: columnsV1beta1,
    },
    { ...alpha('v1alpha4', []), columns: columnsV1beta1 },
    { ...alpha('v1alpha3', ['unhealthyRange']), columns: columnsV1beta1 },
  ],
});
