import { type FieldError, fieldError, type ResourceStrategy, validateLabelSelector } from '../../machinery/index.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { asIs } from '../kind/mapping.ts';
import { ageColumn, textColumn } from '../kind/printer.ts';
import { atomicList, type Constraints, type Field, int32, object, once, oneOf } from '../kind/schema.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { labelSelector } from './common-schema.ts';
import { clusterGroup } from './labels.ts';
import type { MachineDrainRule, MachineDrainRuleSpec } from './types.ts';

const limits: Constraints = { minItems: 1, maxItems: 32 };
const uniqueRule = 'self.all(x, self.exists_one(y, x == y))';

const spec: () => Field<MachineDrainRuleSpec> = once(() =>
  object(
    {
      drain: object(
        {
          behavior: oneOf(
            ['Drain', 'Skip', 'WaitCompleted'],
            'Evict the pods, skip them, or wait until they are done.',
          ).required(),
          order: int32('Pods with a lower number are drained first; absent means 0.'),
        },
        'How pods are drained.',
      ).required(),
      machines: atomicList(
        object(
          {
            selector: labelSelector().describe('Labels of the machines.'),
            clusterSelector: labelSelector().describe('Labels of the Clusters of the machines.'),
          },
          '',
          { minProperties: 1 },
        ),
        'Machines the rule is for; absent means all of the namespace.',
        limits,
      ).rule(uniqueRule, 'entries in machines must be unique'),
      pods: atomicList(
        object(
          {
            selector: labelSelector().describe('Labels of the pods.'),
            namespaceSelector: labelSelector().describe('Labels of the namespaces of the pods.'),
          },
          '',
          { minProperties: 1 },
        ),
        'Pods the rule is for; absent means all.',
        limits,
      ).rule(uniqueRule, 'entries in pods must be unique'),
    },
    'Desired state.',
  ),
);

function validate({ spec }: MachineDrainRule): FieldError[] {
  const errors: FieldError[] = [];
  const { behavior, order } = spec?.drain ?? {};
  if ((behavior === 'Skip' || behavior === 'WaitCompleted') && order !== undefined) {
    errors.push(
      fieldError.invalid(
        'spec.drain.order',
        order,
        'order must not be set if drain behavior is "Skip" or "WaitCompleted"',
      ),
    );
  }
  for (const list of ['machines', 'pods'] as const) {
    spec?.[list]?.forEach((entry, i) => {
      for (const [name, selector] of Object.entries(entry)) {
        errors.push(...validateLabelSelector(selector, `spec.${list}[${i}].${name}`));
      }
    });
  }
  return errors;
}

const strategy: ResourceStrategy<MachineDrainRule> = validateChangedSpec<MachineDrainRule>((object) =>
  validate(object),
);

const columns = [textColumn('Behavior', '.spec.drain.behavior'), textColumn('Order', '.spec.drain.order'), ageColumn];
const shape = { spec, columns, hasStatus: false, specRequired: true, metadataRequired: true };

export const machineDrainRuleKind: Kind<MachineDrainRule> = defineKind<MachineDrainRule>({
  group: clusterGroup,
  kind: 'MachineDrainRule',
  plural: 'machinedrainrules',
  description: 'Says how pods are treated when a machine is drained.',
  labels: contractLabels('cluster-api'),
  strategy,
  hub: { name: 'v1beta2', ...shape },
  old: [{ name: 'v1beta1', deprecated: true, mapping: asIs, ...shape }],
});
