import { asTyped, type Quantity, type UnstructuredObject } from '../../machinery/index.ts';
import type { AdmissionOperation } from '../admission/types.ts';
import type { KeySpace } from '../storage/keys.ts';
import { type Amounts, amountsOf, one, wholeAmount, zero } from './amounts.ts';
import { podEvaluator } from './pod-evaluator.ts';
import { claimMatchesScope, type ScopeSelector } from './scopes.ts';

/** Computes the quota usage of objects of one kind. */
export interface QuotaEvaluator {
  kind: KeySpace;
  /** whether a limit of this name applies to the kind */
  counts(resourceName: string): boolean;
  /** whether a write can increase the usage */
  handles(write: CountedWrite): boolean;
  usage(object: UnstructuredObject, nowMs: number): Amounts;
  /** time at which the usage changes without a write */
  changesAt?(object: UnstructuredObject): number | undefined;
  matchesScope(object: UnstructuredObject, selector: ScopeSelector): boolean;
  /** resources that an object must specify to be counted against these limits; undefined if complete */
  missing?(object: UnstructuredObject, resourceNames: readonly string[]): string | undefined;
}

export interface CountedWrite {
  operation: AdmissionOperation;
  subresource: string | undefined;
  object: UnstructuredObject;
  oldObject: UnstructuredObject | undefined;
}

/** Legacy names from before `count/…`. */
const countAliases: Readonly<Record<string, string>> = {
  configmaps: 'configmaps',
  resourcequotas: 'resourcequotas',
  replicationcontrollers: 'replicationcontrollers',
  secrets: 'secrets',
};

/** Events are too many and too short-lived to be counted. */
const uncounted = new Set(['/events', 'events.k8s.io/events']);

export function evaluatorFor(kind: KeySpace): QuotaEvaluator | undefined {
  const { group, plural } = kind;
  if (uncounted.has(`${group}/${plural}`)) return undefined;
  if (group === '' && plural === 'pods') return podEvaluator;
  if (group === '' && plural === 'services') return serviceEvaluator;
  if (group === '' && plural === 'persistentvolumeclaims') return claimEvaluator;
  return countEvaluator(kind);
}

/** Returns the kind that a limit counts; undefined if it counts none. */
export function kindOfLimit(resourceName: string): KeySpace | undefined {
  if (resourceName.startsWith('count/')) {
    const [plural = '', ...group] = resourceName.slice('count/'.length).split('.');
    return { group: group.join('.'), plural };
  }
  for (const evaluator of [podEvaluator, serviceEvaluator, claimEvaluator]) {
    if (evaluator.counts(resourceName)) return evaluator.kind;
  }
  const plural = Object.hasOwn(countAliases, resourceName) ? countAliases[resourceName] : undefined;
  return plural === undefined ? undefined : { group: '', plural };
}

export function countName({ group, plural }: KeySpace): string {
  return group === '' ? `count/${plural}` : `count/${plural}.${group}`;
}

function countEvaluator(kind: KeySpace): QuotaEvaluator {
  const names = [countName(kind)];
  if (kind.group === '' && Object.hasOwn(countAliases, kind.plural)) names.push(kind.plural);
  const usage: Amounts = new Map(names.map((name) => [name, one]));
  return {
    kind,
    counts: (name) => names.includes(name),
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === undefined,
    usage: () => usage,
    matchesScope: () => false,
  };
}

interface ServiceObject {
  spec?: { type?: string; ports?: { nodePort?: number }[]; allocateLoadBalancerNodePorts?: boolean };
}

const services: KeySpace = { group: '', plural: 'services' };
const serviceNames = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];

const isMainWrite = ({ operation, subresource }: CountedWrite): boolean =>
  subresource === undefined && (operation === 'CREATE' || operation === 'UPDATE');

const serviceEvaluator: QuotaEvaluator = {
  kind: services,
  counts: (name) => serviceNames.includes(name),
  handles: isMainWrite,
  matchesScope: () => false,
  usage(object) {
    const { type, ports = [], allocateLoadBalancerNodePorts } = asTyped<ServiceObject>(object).spec ?? {};
    const balances = type === 'LoadBalancer';
    const onlyNamed = balances && allocateLoadBalancerNodePorts === false;
    const withNodePort = onlyNamed ? ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0) : ports;
    return new Map<string, Quantity>([
      ['count/services', one],
      ['services', one],
      ['services.loadbalancers', balances ? one : zero],
      ['services.nodeports', balances || type === 'NodePort' ? wholeAmount(withNodePort.length) : zero],
    ]);
  },
};

interface ClaimObject {
  metadata: { annotations?: Record<string, string> };
  spec?: { storageClassName?: string; resources?: { requests?: Record<string, string> } };
  status?: { allocatedResources?: Record<string, string> };
}

const claims: KeySpace = { group: '', plural: 'persistentvolumeclaims' };
const ofClass = '.storageclass.storage.k8s.io/';
const claimNames = ['persistentvolumeclaims', 'requests.storage'];

const claimEvaluator: QuotaEvaluator = {
  kind: claims,
  counts: (name) =>
    name === 'count/persistentvolumeclaims' ||
    claimNames.includes(name) ||
    claimNames.some((suffix) => name.endsWith(ofClass + suffix)),
  handles: isMainWrite,
  matchesScope: claimMatchesScope,
  usage(object) {
    const { metadata, spec, status } = asTyped<ClaimObject>(object);
    const className = metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec?.storageClassName ?? '';
    const usage: Amounts = new Map([
      ['persistentvolumeclaims', one],
      ['count/persistentvolumeclaims', one],
    ]);
    if (className !== '') usage.set(`${className}${ofClass}persistentvolumeclaims`, one);
    const storage = largest(amountsOf(spec?.resources?.requests), amountsOf(status?.allocatedResources));
    if (storage === undefined) return usage;
    usage.set('requests.storage', storage);
    if (className !== '') usage.set(`${className}${ofClass}requests.storage`, storage);
    return usage;
  },
};

/** A volume that could not shrink still occupies its allocated size. */
function largest(requested: Amounts, allocated: Amounts): Quantity | undefined {
  const desired = requested.get('storage');
  const given = allocated.get('storage');
  const storage = desired && given && given.nanos > desired.nanos ? given : desired;
  if (storage === undefined) return undefined;
  const whole = ((storage.nanos + one.nanos - 1n) / one.nanos) * one.nanos;
  return { nanos: whole, format: storage.format };
}
