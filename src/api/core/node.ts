import {
  checkCidr,
  checkLabelValue,
  checkQualifiedName,
  cidrFamily,
  deepEqual,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { addMissing, canonicalizeResources, setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn, wideColumn } from '../common/printing.ts';
import { invalid, validateNonNegativeQuantity, validateRequiredEnum } from '../common/validation.ts';

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface NodeCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastHeartbeatTime?: string | null;
  lastTransitionTime?: string | null;
}

export interface NodeSystemInfo {
  architecture?: string;
  bootID?: string;
  containerRuntimeVersion?: string;
  kernelVersion?: string;
  kubeProxyVersion?: string;
  kubeletVersion?: string;
  machineID?: string;
  operatingSystem?: string;
  osImage?: string;
  systemUUID?: string;
}

export interface Node extends KubeObject {
  spec?: {
    podCIDR?: string;
    podCIDRs?: string[];
    providerID?: string;
    unschedulable?: boolean;
    taints?: Taint[];
  };
  status?: {
    capacity?: Record<string, string>;
    allocatable?: Record<string, string>;
    phase?: string;
    conditions?: NodeCondition[];
    addresses?: { type: string; address: string }[];
    daemonEndpoints?: { kubeletEndpoint?: { Port: number } };
    nodeInfo?: NodeSystemInfo;
    images?: { names?: string[]; sizeBytes?: number }[];
  };
}

const infoFields = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
] as const;

function applyDefaults(node: Node): void {
  const spec = setDefault(node, 'spec', {});
  // podCIDR is the legacy form of podCIDRs[0].
  if (spec.podCIDRs?.[0] !== undefined) setDefault(spec, 'podCIDR', spec.podCIDRs[0]);
  else if (spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  const status = setDefault(node, 'status', {});
  canonicalizeResources(status.capacity);
  canonicalizeResources(status.allocatable);
  if (status.capacity) {
    status.allocatable ??= {};
    addMissing(status.allocatable, status.capacity);
  }
  setDefault(setDefault(status, 'daemonEndpoints', {}), 'kubeletEndpoint', { Port: 0 });
  const nodeInfo = setDefault(status, 'nodeInfo', {});
  for (const field of infoFields) setDefault(nodeInfo, field, '');
}

function validateTaints(taints: readonly Taint[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    // Upstream reports this path under metadata.
    const path = `metadata.taints[${index}]`;
    errors.push(...invalid(`${path}.key`, taint.key ?? '', checkQualifiedName(taint.key ?? '')));
    const problems = checkLabelValue(taint.value ?? '');
    if (problems.length > 0) errors.push(fieldError.invalid(`${path}.value`, taint.value, problems.join(';')));
    errors.push(
      ...validateRequiredEnum(taint.effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'], `${path}.effect`),
    );
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) {
      errors.push({
        ...fieldError.duplicate(path, taint),
        detail: 'taints must be unique by key and effect pair',
      });
    }
    seen.add(identity);
  }
  return errors;
}

function validate(node: Node): FieldError[] {
  const errors = validateTaints(node.spec?.taints ?? []);
  for (const list of ['capacity', 'allocatable'] as const) {
    const resources = node.status?.[list] ?? {};
    for (const name in resources) {
      errors.push(...validateNonNegativeQuantity(resources[name], `status.${list}.${name}`));
    }
  }
  const cidrs = node.spec?.podCIDRs ?? [];
  for (const [index, cidr] of cidrs.entries()) {
    errors.push(...invalid(`spec.podCIDRs[${index}]`, cidr, checkCidr(cidr)));
  }
  const [first, second, ...more] = cidrs;
  if (more.length > 0 || (first !== undefined && second !== undefined && cidrFamily(first) === cidrFamily(second))) {
    errors.push(fieldError.invalid('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

function validateUpdate(node: Node, old: Node): FieldError[] {
  const errors = validate(node);
  const addresses = new Set<string>();
  for (const [index, address] of (node.status?.addresses ?? []).entries()) {
    const key = `${address.type} ${address.address}`;
    if (addresses.has(key)) errors.push(fieldError.duplicate(`status.addresses[${index}]`, address));
    addresses.add(key);
  }
  const oldCidrs = old.spec?.podCIDRs ?? [];
  if (oldCidrs.length > 0 && !deepEqual(oldCidrs, node.spec?.podCIDRs)) {
    const text = 'node updates may not change podCIDR except from "" to valid';
    errors.push(fieldError.forbidden('spec.podCIDRs', text));
  }
  if (old.spec?.providerID && old.spec.providerID !== node.spec?.providerID) {
    const text = 'node updates may not change providerID except from "" to valid';
    errors.push(fieldError.forbidden('spec.providerID', text));
  }
  return errors;
}

const rolePrefix = 'node-role.kubernetes.io/';

function roles(node: Node): string {
  const found = new Set<string>();
  const labels = node.metadata.labels ?? {};
  for (const key in labels) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) found.add(key.slice(rolePrefix.length));
    else if (key === 'kubernetes.io/role' && labels[key]) found.add(labels[key]);
  }
  return found.size === 0 ? '<none>' : [...found].sort().join(',');
}

function readiness(node: Node): string {
  const ready = node.status?.conditions?.findLast((condition) => condition.type === 'Ready');
  const word = !ready ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return node.spec?.unschedulable ? `${word},SchedulingDisabled` : word;
}

function addressOf(node: Node, type: string): string {
  return node.status?.addresses?.find((address) => address.type === type)?.address ?? '<none>';
}

export const nodeDefinition: ResourceDefinition = defineBuiltin<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  component: 'io.k8s.api.core.v1.Node',
  hasStatus: true,
  noGeneration: true,
  columns: [
    nameColumn,
    column('Status'),
    column('Roles'),
    ageColumn,
    column('Version'),
    wideColumn('Internal-IP'),
    wideColumn('External-IP'),
    wideColumn('OS-Image'),
    wideColumn('Kernel-Version'),
    wideColumn('Container-Runtime'),
  ],
  row(node, nowMs) {
    const info = node.status?.nodeInfo ?? {};
    return [
      node.metadata.name ?? '',
      readiness(node),
      roles(node),
      age(node, nowMs),
      info.kubeletVersion ?? '',
      addressOf(node, 'InternalIP'),
      addressOf(node, 'ExternalIP'),
      info.osImage || '<unknown>',
      info.kernelVersion || '<unknown>',
      info.containerRuntimeVersion || '<unknown>',
    ];
  },
  selectableFields: { 'spec.unschedulable': (node) => String(node.spec?.unschedulable ?? false) },
  applyDefaults,
  validateCreate: validate,
  validateUpdate,
  validateStatusUpdate: validateUpdate,
});

export const Nodes: Resource<Node> = resourceOf<Node>(nodeDefinition);
