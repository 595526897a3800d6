import {
  type Condition,
  type FieldError,
  fieldError,
  type IntOrString,
  type KubeObject,
  type LabelSelectorObject,
  type Resource,
  type ResourceDefinition,
  validateLabelSelector,
  validateNonNegative,
  validateNonNegativeIntOrPercent,
  validateNotMoreThan100Percent,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { validateEnum } from '../common/validation.ts';

export interface PodDisruptionBudget extends KubeObject {
  spec?: {
    minAvailable?: IntOrString;
    maxUnavailable?: IntOrString;
    selector?: LabelSelectorObject;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    expectedPods?: number;
    disruptedPods?: Record<string, string>;
    conditions?: Condition[];
  };
}

const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

function validate(budget: PodDisruptionBudget): FieldError[] {
  const spec = budget.spec ?? {};
  const errors: FieldError[] = [];
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined) {
    errors.push(fieldError.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable'] as const) {
    errors.push(...validateNonNegativeIntOrPercent(spec[field], `spec.${field}`));
    errors.push(...validateNotMoreThan100Percent(spec[field], `spec.${field}`));
  }
  errors.push(...validateLabelSelector(spec.selector, 'spec.selector'));
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  errors.push(...validateEnum(spec.unhealthyPodEvictionPolicy, policies, 'spec.unhealthyPodEvictionPolicy'));
  return errors;
}

export const podDisruptionBudgetDefinition: ResourceDefinition = defineBuiltin<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  namespaced: true,
  component: 'io.k8s.api.policy.v1.PodDisruptionBudget',
  conditionalUpdatesOnly: true,
  hasStatus: true,
  columns: [
    nameColumn,
    column('Min Available'),
    column('Max Unavailable'),
    column('Allowed Disruptions', 'integer'),
    ageColumn,
  ],
  row: (budget, nowMs) => [
    budget.metadata.name ?? '',
    String(budget.spec?.minAvailable ?? 'N/A'),
    String(budget.spec?.maxUnavailable ?? 'N/A'),
    budget.status?.disruptionsAllowed ?? 0,
    age(budget, nowMs),
  ],
  applyDefaults(budget) {
    setDefault(budget, 'spec', {});
    const status = setDefault(budget, 'status', {});
    for (const count of counts) setDefault(status, count, 0);
  },
  prepareForCreate(budget) {
    budget.status = { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 };
  },
  validateCreate: validate,
  validateUpdate: validate,
  validateStatusUpdate: (budget) =>
    counts.flatMap((count) => validateNonNegative(budget.status?.[count], `status.${count}`)),
});

export const PodDisruptionBudgets: Resource<PodDisruptionBudget> =
  resourceOf<PodDisruptionBudget>(podDisruptionBudgetDefinition);
