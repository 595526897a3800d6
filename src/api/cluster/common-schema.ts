import {
  atomicList,
  boolean,
  type Field,
  int32,
  int64,
  intOrString,
  list,
  listKeyedBy,
  object,
  once,
  oneOf,
  string,
  stringMap,
  time,
} from '../kind/schema.ts';
import type {
  ConditionGate,
  ContractReference,
  DeletionOrder,
  DeprecatedCondition,
  LabelSelector,
  MachineTaint,
  NodeDeletion,
  ReplicaVersion,
  RolloutStrategy,
  StatusCondition,
  TemplateMetadata,
  TemplateReference,
} from './types.ts';

export const dnsSubdomainPattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
export const dnsLabelPattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
const kindPattern = '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$';
const apiVersionPattern =
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[a-z]([-a-z0-9]*[a-z0-9])?$';
const conditionTypePattern =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';
const taintKeyPattern =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
const taintValuePattern = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';
const reasonPattern = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';

/** an optional string that must not be empty */
export function text(description: string, maxLength: number): Field<string> {
  return string(description, { minLength: 1, maxLength });
}

export function contractReference(description: string): Field<ContractReference> {
  return object(
    {
      apiGroup: string('API group of the object; its version is found through the contract.', {
        minLength: 1,
        maxLength: 253,
        pattern: dnsSubdomainPattern,
      }).required(),
      kind: string('Kind of the object.', { minLength: 1, maxLength: 63, pattern: kindPattern }).required(),
      name: string('Name of the object, in the same namespace.', {
        minLength: 1,
        maxLength: 253,
        pattern: dnsSubdomainPattern,
      }).required(),
    },
    description,
  );
}

export function templateReference(description: string): Field<TemplateReference> {
  return object(
    {
      apiVersion: string('Group and version of the template.', {
        minLength: 1,
        maxLength: 317,
        pattern: apiVersionPattern,
      }).required(),
      kind: string('Kind of the template.', { minLength: 1, maxLength: 63, pattern: kindPattern }).required(),
      name: string('Name of the template.', { minLength: 1, maxLength: 253, pattern: dnsSubdomainPattern }).required(),
    },
    description,
  );
}

/** full object reference of v1beta1 */
export function objectReference(description: string): Field<{
  apiVersion?: string;
  kind?: string;
  name?: string;
  namespace?: string;
  fieldPath?: string;
  resourceVersion?: string;
  uid?: string;
}> {
  return object(
    {
      apiVersion: string('Group and version of the object.'),
      fieldPath: string('Part of the object.'),
      kind: string('Kind of the object.'),
      name: string('Name of the object.'),
      namespace: string('Namespace of the object.'),
      resourceVersion: string('Version of the object.'),
      uid: string('UID of the object.'),
    },
    description,
    { 'x-kubernetes-map-type': 'atomic' },
  );
}

export const conditionType = (description: string): Field<string> =>
  string(description, { minLength: 1, maxLength: 316, pattern: conditionTypePattern });

const reason = (): Field<string> =>
  string('Why, as one CamelCase word for programs.', { minLength: 1, maxLength: 1024, pattern: reasonPattern });
const message = (): Field<string> => string('Why, in a sentence for people.', { maxLength: 32768 });

const conditionFields = () => ({
  type: string('What the condition is about.', { maxLength: 316, pattern: conditionTypePattern }).required(),
  status: oneOf(['True', 'False', 'Unknown'], 'Whether the condition holds.').required(),
  reason: reason().required(),
  message: message().required(),
  lastTransitionTime: time('When the status changed last.').required(),
  observedGeneration: int64('Generation of the object this was seen on.', { minimum: 0 }),
});

export const condition: () => Field<StatusCondition> = once(() => object(conditionFields()));

/**
 * A condition of a version that upstream released with older conditions first: those that hold had neither reason nor
 * message. Without defaults no status of such an object could be written.
 */
export const conditionOfOldReleases: () => Field<StatusCondition> = once(() =>
  object({
    ...conditionFields(),
    reason: reason().default('NotReported').required(),
    message: message().default('').required(),
  }),
);

export function conditions(limit?: number): Field<StatusCondition[]> {
  return listKeyedBy(
    ['type'],
    condition(),
    'Conditions of the object.',
    limit === undefined ? {} : { maxItems: limit },
  );
}

export const deprecatedConditions: () => Field<DeprecatedCondition[]> = once(() =>
  list(
    object({
      type: text('What the condition is about.', 256).required(),
      status: string('True, False or Unknown.').required(),
      severity: string('How bad it is when not True: Error, Warning or Info.', { maxLength: 32 }),
      lastTransitionTime: time('When the status changed last.').required(),
      reason: text('Why, as one CamelCase word for programs.', 256),
      message: text('Why, in a sentence for people.', 10240),
    }),
    'Conditions in the form of the v1beta1 contract.',
  ),
);

/** `minItems` exists since v1beta2; older versions accept an empty list */
export function conditionGates(description: string, minItems?: number): Field<ConditionGate[]> {
  return listKeyedBy(
    ['conditionType'],
    object({
      conditionType: conditionType('Type of the condition to check.').required(),
      polarity: oneOf(['Positive', 'Negative'], 'Expected status: Positive (default) means True.'),
    }),
    description,
    { maxItems: 32, ...(minItems === undefined ? {} : { minItems }) },
  );
}

export const taints: () => Field<MachineTaint[]> = once(() =>
  listKeyedBy(
    ['key', 'effect'],
    object({
      key: string('Key of the taint.', { minLength: 1, maxLength: 317, pattern: taintKeyPattern }).required(),
      value: string('Value of the taint.', { minLength: 1, maxLength: 63, pattern: taintValuePattern }),
      effect: oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], 'Effect of the taint on pods.').required(),
      propagation: oneOf(
        ['Always', 'OnInitialization'],
        'Keep the taint on the Node forever, or put it there only once.',
      ).required(),
    }),
    'Taints the controller puts on the Node.',
    { minItems: 1, maxItems: 64 },
  ),
);

export function templateMetadata(minProperties?: number): Field<TemplateMetadata> {
  return object(
    {
      labels: stringMap('Labels for objects created from this template.'),
      annotations: stringMap('Annotations for objects created from this template.'),
    },
    'Labels and annotations for objects created from this template.',
    minProperties === undefined ? {} : { minProperties },
  );
}

export const nodeDeletionFields: Record<keyof NodeDeletion, Field<number>> = {
  nodeDrainTimeoutSeconds: int32('How long draining the Node may take; absent or 0 means as long as it takes.', {
    minimum: 0,
  }),
  nodeVolumeDetachTimeoutSeconds: int32('How long volumes may take to detach; absent or 0 means as long as it takes.', {
    minimum: 0,
  }),
  nodeDeletionTimeoutSeconds: int32('How long to try to delete the Node; 0 means forever, the default is 10.', {
    minimum: 0,
  }),
};

export const nodeDeletion: () => Field<NodeDeletion> = once(() =>
  object(nodeDeletionFields, 'How a machine is deleted.', { minProperties: 1 }),
);

export const deletionOrder = (): Field<DeletionOrder> =>
  oneOf(['Random', 'Newest', 'Oldest'], 'Which machines are deleted first when scaling down.');

export const rolloutStrategy: () => Field<RolloutStrategy> = once(() =>
  object(
    {
      type: oneOf(
        ['RollingUpdate', 'OnDelete'],
        'Replace machines step by step, or only those a user deletes.',
      ).required(),
      rollingUpdate: object(
        {
          maxSurge: intOrString('How many machines may exist above the desired number, as number or percentage.'),
          maxUnavailable: intOrString('How many machines may be unavailable, as number or percentage.'),
        },
        'Limits of a step by step replacement.',
        { minProperties: 1 },
      ),
    },
    'How old machines are replaced by new ones.',
    { minProperties: 1 },
  ),
);

export const rollout: () => Field<{ after?: string; strategy?: RolloutStrategy }> = once(() =>
  object(
    { after: time('Replace the machines once this time has passed.'), strategy: rolloutStrategy() },
    'When and how changed machines are replaced.',
    { minProperties: 1 },
  ),
);

export const labelSelector: () => Field<LabelSelector> = once(() =>
  object(
    {
      matchLabels: stringMap('Labels that must have exactly these values.'),
      matchExpressions: atomicList(
        object({
          key: string('Key of the label.').required(),
          operator: string('In, NotIn, Exists or DoesNotExist.').required(),
          values: atomicList(string(), 'Values for In and NotIn.'),
        }),
        'Additional requirements; all must hold.',
      ),
    },
    'Which objects are meant.',
    { 'x-kubernetes-map-type': 'atomic' },
  ),
);

export function replicaVersions(constraints: { keyed: boolean; maxItems: number }): Field<ReplicaVersion[]> {
  const item = object({
    version: text('Kubernetes version.', 256).required(),
    replicas: int32('Machines that run it.', { minimum: 1 }),
  });
  const limits = { minItems: 1, maxItems: constraints.maxItems };
  const description = 'Kubernetes versions in use and how many machines run each.';
  return constraints.keyed
    ? listKeyedBy(['version'], item, description, limits)
    : atomicList(item, description, limits);
}

export const failureFields: Record<'failureReason' | 'failureMessage', Field<string>> = {
  failureReason: string('Reason of a terminal failure of the object.'),
  failureMessage: text('Message about a terminal failure of the object.', 10240),
};

export const paused = (what: string): Field<boolean> => boolean(`Stops all work on ${what} while true.`);
