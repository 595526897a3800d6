import {
  clone,
  deepEqual,
  type FieldError,
  fieldError,
  formatTime,
  parseQuantity,
  type Resource,
  type ResourceDefinition,
  rangeText,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { ageColumn, column, nameColumn, wideColumn } from '../common/printing.ts';
import { defaultPod, defaultPodSpec } from './pod-defaults.ts';
import { podRow } from './pod-row.ts';
import type { Container, Pod, PodSpec, PodStatus, Toleration } from './pod-types.ts';
import { validatePodSpec, validateTolerations } from './pod-validation.ts';

/** Computes the QoS class from the resources of the containers. It never changes afterwards. */
export function qosClass(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  let asks = false;
  let guaranteed = true;
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    const { limits = {}, requests = {} } = container.resources ?? {};
    for (const resource of ['cpu', 'memory']) {
      const limit = parseQuantity(limits[resource])?.nanos ?? 0n;
      const request = parseQuantity(requests[resource])?.nanos ?? 0n;
      if (limit > 0n || request > 0n) asks = true;
      if (limit === 0n || request !== limit) guaranteed = false;
    }
  }
  if (!asks) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

const updatableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function sameContainerCount(spec: PodSpec, old: PodSpec, field: 'containers' | 'initContainers'): boolean {
  return (spec[field] ?? []).length === (old[field] ?? []).length;
}

function validateSpecChange(spec: PodSpec, old: PodSpec): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'] as const) {
    if (!sameContainerCount(spec, old, field)) {
      errors.push(fieldError.forbidden(`spec.${field}`, 'pod updates may not add or remove containers'));
      return errors;
    }
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined) {
    if (deadline < 0 || deadline > 2147483647) {
      return [fieldError.invalid('spec.activeDeadlineSeconds', deadline, rangeText(0, 2147483647))];
    }
    if (old.activeDeadlineSeconds !== undefined && old.activeDeadlineSeconds < deadline) {
      const text = 'must be less than or equal to previous value';
      return [fieldError.invalid('spec.activeDeadlineSeconds', deadline, text)];
    }
  } else if (old.activeDeadlineSeconds !== undefined) {
    const text = 'must not update from a positive integer to nil value';
    errors.push(fieldError.invalid('spec.activeDeadlineSeconds', null, text));
  }
  errors.push(...validateAddedTolerations(spec.tolerations ?? [], old.tolerations ?? []));
  const gates = new Set((old.schedulingGates ?? []).map((gate) => gate.name));
  for (const [index, gate] of (spec.schedulingGates ?? []).entries()) {
    if (!gates.has(gate.name)) {
      const text = `only deletion is allowed, but found new scheduling gate '${gate.name}'`;
      errors.push(fieldError.forbidden(`spec.schedulingGates[${index}].name`, text));
    }
  }
  if (!deepEqual(withoutUpdatableFields(spec, old), old)) {
    errors.push(
      fieldError.forbidden('spec', `pod updates may not change fields other than ${updatableFields.join(',')}\n`),
    );
  }
  return errors;
}

function validateAddedTolerations(tolerations: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const key = ({ tolerationSeconds: _, ...rest }: Toleration): Toleration => rest;
  for (const toleration of old) {
    if (!tolerations.some((candidate) => deepEqual(key(candidate), key(toleration)))) {
      const text = 'existing toleration can not be modified except its tolerationSeconds';
      return [fieldError.forbidden('spec.tolerations', text)];
    }
  }
  return validateTolerations(tolerations, 'spec.tolerations');
}

/** Returns the new spec with all mutable fields reset to their old values. */
function withoutUpdatableFields(spec: PodSpec, old: PodSpec): PodSpec {
  const restored: PodSpec = clone(spec);
  const restoreImages = (containers: Container[] | undefined, before: Container[] | undefined): void => {
    for (const [index, container] of (containers ?? []).entries()) {
      const image = before?.[index]?.image;
      if (image !== undefined) container.image = image;
    }
  };
  restoreImages(restored.containers, old.containers);
  restoreImages(restored.initContainers, old.initContainers);
  for (const field of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'] as const) {
    if (old[field] === undefined) delete restored[field];
    else Object.assign(restored, { [field]: old[field] });
  }
  const oldGrace = old.terminationGracePeriodSeconds;
  if (oldGrace !== undefined && oldGrace < 0 && restored.terminationGracePeriodSeconds === 1) {
    restored.terminationGracePeriodSeconds = oldGrace;
  }
  if ((old.schedulingGates ?? []).length > 0) {
    // A pod with scheduling gates may still get a node selector and affinity.
    for (const field of ['nodeSelector', 'affinity'] as const) {
      if (old[field] === undefined) delete restored[field];
      else Object.assign(restored, { [field]: old[field] });
    }
  }
  return restored;
}

/** Writers that do not know observedGeneration must not remove it. */
function keepObservedGenerations(status: PodStatus, before: PodStatus): void {
  if (!status.observedGeneration && before.observedGeneration) status.observedGeneration = before.observedGeneration;
  const old = new Map((before.conditions ?? []).map(({ type, observedGeneration }) => [type, observedGeneration]));
  for (const condition of status.conditions ?? []) {
    const seen = old.get(condition.type);
    if (!condition.observedGeneration && seen) condition.observedGeneration = seen;
  }
}

export const podDefinition: ResourceDefinition = defineBuiltin<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.Pod',
  hasStatus: true,
  subresources: [
    { name: 'attach', verbs: ['create', 'get'], group: '', version: 'v1', kind: 'PodAttachOptions' },
    { name: 'binding', verbs: ['create'], group: '', version: 'v1', kind: 'Binding' },
    { name: 'eviction', verbs: ['create'], group: 'policy', version: 'v1', kind: 'Eviction' },
    { name: 'exec', verbs: ['create', 'get'], group: '', version: 'v1', kind: 'PodExecOptions' },
    { name: 'log', verbs: ['get'], group: '', version: 'v1', kind: 'Pod' },
    { name: 'portforward', verbs: ['create', 'get'], group: '', version: 'v1', kind: 'PodPortForwardOptions' },
  ],
  columns: [
    nameColumn,
    column('Ready'),
    column('Status'),
    column('Restarts'),
    ageColumn,
    wideColumn('IP'),
    wideColumn('Node'),
    wideColumn('Nominated Node'),
    wideColumn('Readiness Gates'),
  ],
  row: podRow,
  selectableFields: {
    'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => pod.spec.restartPolicy ?? '',
    'spec.schedulerName': (pod) => pod.spec.schedulerName ?? '',
    'spec.serviceAccountName': (pod) => pod.spec.serviceAccountName ?? '',
    'spec.hostNetwork': (pod) => String(pod.spec.hostNetwork ?? false),
    'status.phase': (pod) => pod.status?.phase ?? '',
    'status.podIP': (pod) => pod.status?.podIPs?.[0]?.ip ?? '',
    'status.podIPs': (pod) => pod.status?.podIPs?.[0]?.ip ?? '',
    'status.nominatedNodeName': (pod) => pod.status?.nominatedNodeName ?? '',
  },
  applyDefaults(pod) {
    setDefault(pod, 'spec', { containers: [] });
    defaultPodSpec(pod.spec);
    defaultPod(pod.spec);
    // Upstream treats a negative value as 1.
    if ((pod.spec.terminationGracePeriodSeconds ?? 0) < 0) pod.spec.terminationGracePeriodSeconds = 1;
    if (pod.status) setDefault(pod.status, 'phase', 'Pending');
  },
  prepareForCreate(pod, { nowMs }) {
    pod.status = { phase: 'Pending', qosClass: qosClass(pod.spec) };
    if ((pod.spec.schedulingGates ?? []).length > 0) {
      const condition = {
        type: 'PodScheduled',
        status: 'False',
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
        lastProbeTime: null,
        lastTransitionTime: formatTime(nowMs),
      };
      pod.status.conditions = [condition];
    }
  },
  prepareForStatusUpdate(pod, old) {
    pod.status ??= {};
    const before = old.status ?? {};
    if (!pod.status.qosClass && before.qosClass) pod.status.qosClass = before.qosClass;
    keepObservedGenerations(pod.status, before);
  },
  validateCreate(pod) {
    const errors = validatePodSpec(pod.spec, 'spec');
    if ((pod.spec?.ephemeralContainers ?? []).length > 0) {
      errors.push(fieldError.forbidden('spec.ephemeralContainers', 'cannot be set on create'));
    }
    if (pod.spec?.nodeName && (pod.spec.schedulingGates ?? []).length > 0) {
      const text = 'cannot be set until all schedulingGates have been cleared';
      errors.push(fieldError.forbidden('spec.nodeName', text));
    }
    return errors;
  },
  validateUpdate(pod, old) {
    if (deepEqual(pod.spec, old.spec)) return [];
    const errors = validatePodSpec(pod.spec, 'spec');
    errors.push(...validateSpecChange(pod.spec, old.spec));
    return errors;
  },
  gracePeriodSeconds(pod) {
    // A pod without a kubelet, or one that has ended, needs no shutdown time.
    if (!pod.spec.nodeName) return 0;
    if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') return 0;
    return pod.spec.terminationGracePeriodSeconds ?? 30;
  },
});

export const Pods: Resource<Pod> = resourceOf<Pod>(podDefinition);
