import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { kubeadmConfigSpecMapping } from '../bootstrap/v1beta1.ts';
import { nodeTimeoutMappings, strategyWithType } from '../cluster/cluster-v1beta1.ts';
import { reference } from '../cluster/references.ts';
import { chain, type FieldMapping, field, fields, type Mapping } from '../kind/mapping.ts';
import { conditionMappings, durationSeconds, failureMappings, flag } from '../kind/values.ts';

/** Fields beside the metadata of the machine template move to its spec. */
export const planeMachineTemplateV1beta1: Mapping = fields(
  field('metadata'),
  field('infrastructureRef', 'spec.infrastructureRef', reference),
  field('readinessGates', 'spec.readinessGates'),
  field('taints', 'spec.taints'),
  ...nodeTimeoutMappings.map(({ old, hub, mapping }) => ({ old, hub: ['spec', ...hub], mapping })),
);

const specMappings: readonly FieldMapping[] = [
  field('kubeadmConfigSpec', 'kubeadmConfigSpec', kubeadmConfigSpecMapping),
  field('machineTemplate', 'machineTemplate', planeMachineTemplateV1beta1),
  field('rolloutBefore', 'rollout.before'),
  field('rolloutAfter', 'rollout.after'),
  field('rolloutStrategy', 'rollout.strategy', strategyWithType),
  field('remediationStrategy.maxRetry', 'remediation.maxRetry'),
  field('remediationStrategy.retryPeriod', 'remediation.retryPeriodSeconds', durationSeconds),
  field('remediationStrategy.minHealthyPeriod', 'remediation.minHealthyPeriodSeconds', durationSeconds),
  field('machineNamingStrategy', 'machineNaming'),
];

/** In v1beta1, a control plane is ready as soon as one of its Nodes is ready. */
const readyFromReplicas: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { ready: _, ...rest } = value;
    return rest;
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { readyReplicas } = value as JsonObject;
    return typeof readyReplicas === 'number' && readyReplicas > 0 ? { ...value, ready: true } : value;
  },
};

const statusMappings: readonly FieldMapping[] = [
  ...conditionMappings,
  ...failureMappings,
  field('readyReplicas', 'deprecated.v1beta1.readyReplicas'),
  field('updatedReplicas', 'deprecated.v1beta1.updatedReplicas'),
  field('unavailableReplicas', 'deprecated.v1beta1.unavailableReplicas'),
  field('initialized', 'initialization.controlPlaneInitialized', flag),
  field('v1beta2.readyReplicas', 'readyReplicas'),
  field('v1beta2.availableReplicas', 'availableReplicas'),
  field('v1beta2.upToDateReplicas', 'upToDateReplicas'),
];

/** Status of control planes whose last remediation has the same form in both versions. */
export const planeStatusV1beta1: Mapping = chain(readyFromReplicas, fields(...statusMappings));

const status: Mapping = chain(
  readyFromReplicas,
  fields(...statusMappings, field('lastRemediation', 'lastRemediation', fields(field('timestamp', 'time')))),
);

export const kubeadmControlPlaneV1beta1: Mapping = fields(
  field('spec', 'spec', fields(...specMappings)),
  field('status', 'status', status),
);

export const kubeadmControlPlaneTemplateV1beta1: Mapping = fields(
  field('spec', 'spec', fields(field('template', 'template', fields(field('spec', 'spec', fields(...specMappings)))))),
);
