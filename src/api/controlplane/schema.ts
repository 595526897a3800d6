import { kubeadmConfigSpec, kubeadmConfigSpecV1beta1 } from '../bootstrap/kubeadm-config-schema.ts';
import { duration, nodeTimeouts } from '../cluster/cluster-v1beta1.ts';
import {
  conditionGates,
  conditions,
  contractReference,
  deprecatedConditions,
  failureFields,
  nodeDeletion,
  objectReference,
  replicaVersions,
  taints,
  templateMetadata,
  text,
} from '../cluster/common-schema.ts';
import {
  boolean,
  type Field,
  type Fields,
  int32,
  int64,
  intOrString,
  object,
  once,
  oneOf,
  time,
  type UntypedField,
} from '../kind/schema.ts';
import type {
  KubeadmControlPlaneMachineTemplate,
  KubeadmControlPlaneRemediation,
  KubeadmControlPlaneRollout,
  KubeadmControlPlaneSpec,
  KubeadmControlPlaneStatus,
  KubeadmControlPlaneTemplateResourceSpec,
  KubeadmControlPlaneTemplateSpec,
} from './types.ts';

const some = { minProperties: 1 } as const;
export const planeReplicas = (): Field<number> =>
  int32('Desired number of machines; must be odd unless etcd is external.');
export const planeVersion = (): Field<string, true> => text('Desired Kubernetes version.', 256).required();
const gatesDescription = 'Additional conditions that must hold before a machine is ready.';
export const machinesDescription = 'Template of the machines.';
const namingTemplate = (): Field<string> => text('Go template of the names; must contain {{ .random }}.', 256);
export const maxSurge = (): Field<number | string> =>
  intOrString('How many machines may exist above the desired number: 0 or 1.');
const rolloutAfter = (): Field<string> => time('Replace the machines once this time has passed.');

const machineTemplate: () => Field<KubeadmControlPlaneMachineTemplate> = once(() =>
  object(
    {
      metadata: templateMetadata(1),
      spec: object(
        {
          infrastructureRef: contractReference('Template of the infrastructure of the machines.').required(),
          readinessGates: conditionGates(gatesDescription, 1),
          deletion: nodeDeletion(),
          taints: taints(),
        },
        'Spec of the machines.',
      ).required(),
    },
    machinesDescription,
  ),
);

const rollout: () => Field<KubeadmControlPlaneRollout> = once(() =>
  object(
    {
      before: object(
        {
          certificatesExpiryDays: int32('Replace machines this many days before a certificate expires.', {
            minimum: 7,
          }),
        },
        'Replace machines before something expires.',
        some,
      ),
      after: rolloutAfter(),
      strategy: object(
        {
          type: oneOf(['RollingUpdate'], 'Replace machines step by step.').required(),
          rollingUpdate: object({ maxSurge: maxSurge() }, 'Limits of a step by step replacement.', some),
        },
        'How old machines are replaced by new ones.',
        some,
      ),
    },
    'When and how machines are rolled out.',
    some,
  ),
);

const remediation: () => Field<KubeadmControlPlaneRemediation> = once(() =>
  object(
    {
      maxRetry: int32('Maximum number of attempts to replace a machine; absent means no limit.'),
      retryPeriodSeconds: int32('How long to wait between two tries.', { minimum: 0 }),
      minHealthyPeriodSeconds: int32('How long a replacement must be healthy to count as done.', { minimum: 0 }),
    },
    'How unhealthy machines are replaced.',
    some,
  ),
);

const machineNaming = (): Field<{ template?: string }> =>
  object({ template: namingTemplate() }, 'How machines are named.', some);

export const kubeadmControlPlaneSpec: () => Field<KubeadmControlPlaneSpec> = once(() =>
  object(
    {
      replicas: planeReplicas(),
      version: planeVersion(),
      machineTemplate: machineTemplate().required(),
      kubeadmConfigSpec: kubeadmConfigSpec(),
      rollout: rollout(),
      remediation: remediation(),
      machineNaming: machineNaming(),
    },
    'Desired state.',
  ),
);

const sharedSpecFieldsV1beta1 = () => ({
  kubeadmConfigSpec: { schema: kubeadmConfigSpecV1beta1().schema, isRequired: true },
  rolloutBefore: object(
    { certificatesExpiryDays: int32('Replace machines this many days before a certificate expires.') },
    'Replace machines before something expires.',
  ),
  rolloutAfter: rolloutAfter(),
  rolloutStrategy: object(
    {
      type: oneOf(['RollingUpdate'], 'Replace machines step by step.'),
      rollingUpdate: object({ maxSurge: maxSurge() }, 'Limits of a step by step replacement.'),
    },
    'How old machines are replaced by new ones.',
  ).default({ rollingUpdate: { maxSurge: 1 }, type: 'RollingUpdate' }),
  remediationStrategy: object(
    {
      maxRetry: int32('Maximum number of attempts to replace a machine; absent means no limit.'),
      retryPeriod: duration('How long to wait between two tries.'),
      minHealthyPeriod: duration('How long a replacement must be healthy to count as done.'),
    },
    'How unhealthy machines are replaced.',
  ),
  machineNamingStrategy: object({ template: namingTemplate() }, 'How machines are named.'),
});

const machineFieldsV1beta1 = () => ({ metadata: templateMetadata(), taints: taints(), ...nodeTimeouts() });

export const kubeadmControlPlaneSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      replicas: planeReplicas(),
      version: planeVersion(),
      machineTemplate: object(
        {
          ...machineFieldsV1beta1(),
          infrastructureRef: objectReference('Template of the infrastructure of the machines.').required(),
          readinessGates: conditionGates(gatesDescription),
        },
        machinesDescription,
      ).required(),
      ...sharedSpecFieldsV1beta1(),
    },
    'Desired state.',
  ),
);

const count = (description: string): Field<number> => int32(description);
const sharedStatusFields = () => ({
  selector: text('Selector of the machines as text, for the scale subresource.', 4096),
  replicas: count('Machines that exist.'),
  version: text('Lowest Kubernetes version among the machines.', 256),
  versions: replicaVersions({ keyed: true, maxItems: 100 }),
});
const legacyCounts = () => ({
  readyReplicas: count('Machines with a ready Node.'),
  updatedReplicas: count('Machines that match the spec.'),
  unavailableReplicas: count('Machines missing or not ready.'),
});
const counts = () => ({
  readyReplicas: count('Machines that are ready.'),
  availableReplicas: count('Machines that are available.'),
  upToDateReplicas: count('Machines that match the spec.'),
});
const remediationDescription = 'The last replacement of an unhealthy machine.';
const remediatedMachine = (): Field<string, true> => text('The machine.', 253).required();

type StatusOfPlanes = Omit<KubeadmControlPlaneStatus, 'lastRemediation'>;

/** Status of all control plane kinds that use machines, without the record of the last remediation. */
export const planeStatusFields = (): { [K in keyof StatusOfPlanes]-?: Field<NonNullable<StatusOfPlanes[K]>> } => ({
  ...sharedStatusFields(),
  ...counts(),
  conditions: conditions(32),
  initialization: object(
    { controlPlaneInitialized: boolean('True once the control plane has answered; never becomes false again.') },
    'Progress of the first provisioning.',
    some,
  ),
  observedGeneration: int64('Generation of the spec that this status describes.', { minimum: 1 }),
  deprecated: object(
    {
      v1beta1: object(
        { conditions: deprecatedConditions(), ...failureFields, ...legacyCounts() },
        'Status in the form of v1beta1.',
      ),
    },
    'Kept for old clients.',
  ),
});

export const kubeadmControlPlaneStatus: () => Field<KubeadmControlPlaneStatus> = once(() =>
  object(
    {
      ...planeStatusFields(),
      lastRemediation: object(
        {
          machine: remediatedMachine(),
          time: time('Start time.').required(),
          retryCount: int32('Number of attempts.', { minimum: 0 }).required(),
        },
        remediationDescription,
      ),
    },
    'Observed state.',
    some,
  ),
);

/** Last remediation as in v1beta1, and in v1beta2 of some providers. */
export const lastRemediationWithTimestamp = (): Field<{ machine: string; timestamp: string; retryCount: number }> =>
  object(
    {
      machine: remediatedMachine(),
      timestamp: time('Start time.').required(),
      retryCount: int32('Number of attempts.').required(),
    },
    remediationDescription,
  );

export const planeStatusFieldsV1beta1 = (): Fields => ({
  ...sharedStatusFields(),
  ...legacyCounts(),
  conditions: deprecatedConditions(),
  ...failureFields,
  initialized: boolean('True once the control plane has answered.'),
  ready: boolean('True while an API server answers.'),
  observedGeneration: int64('Generation of the spec that this status describes.'),
  lastRemediation: lastRemediationWithTimestamp(),
  v1beta2: object({ conditions: conditions(32), ...counts() }, 'Status fields of v1beta2.'),
});

export const kubeadmControlPlaneStatusV1beta1: () => UntypedField = once(() =>
  object(planeStatusFieldsV1beta1(), 'Observed state.'),
);

const templateDescription = 'Template of the control planes.';

const templateResource: () => Field<KubeadmControlPlaneTemplateResourceSpec> = once(() =>
  object(
    {
      machineTemplate: object(
        {
          metadata: templateMetadata(1),
          spec: object({ deletion: nodeDeletion(), taints: taints() }, 'Spec of the machines.', some),
        },
        machinesDescription,
        some,
      ),
      kubeadmConfigSpec: kubeadmConfigSpec(),
      rollout: rollout(),
      remediation: remediation(),
      machineNaming: machineNaming(),
    },
    'Spec of the control planes.',
    some,
  ),
);

export const kubeadmControlPlaneTemplateSpec: () => Field<KubeadmControlPlaneTemplateSpec> = once(() =>
  object(
    {
      template: object(
        { metadata: templateMetadata(1), spec: templateResource() },
        templateDescription,
        some,
      ).required(),
    },
    'Desired state.',
  ),
);

export const kubeadmControlPlaneTemplateSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      template: object(
        {
          metadata: templateMetadata(),
          spec: object(
            { machineTemplate: object(machineFieldsV1beta1(), machinesDescription), ...sharedSpecFieldsV1beta1() },
            'Spec of the control planes.',
          ).required(),
        },
        templateDescription,
      ).required(),
    },
    'Desired state.',
  ),
);
