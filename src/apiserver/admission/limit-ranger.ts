import {
  aggregateText,
  asTyped,
  formatQuantity,
  must,
  type Quantity,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import {
  podResources,
  type ResourcefulContainer,
  type ResourcefulPod,
  type ResourceRequirements,
} from '../pods/pod-resources.ts';
import { type Amounts, amountsOf, type ResourceList } from '../quota/amounts.ts';
import { keyPrefix } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

interface LimitRangeItem {
  type: string;
  max?: ResourceList;
  min?: ResourceList;
  default?: Record<string, string>;
  defaultRequest?: Record<string, string>;
  maxLimitRequestRatio?: ResourceList;
}

type MutableRequirements = { requests?: Record<string, string>; limits?: Record<string, string> };

const limitRanges = { group: '', plural: 'limitranges' };
const annotation = 'kubernetes.io/limit-ranger';

/**
 * Applies default resources to containers and enforces the limits of the namespace on pods and claims (kube-apiserver:
 * LimitRanger).
 */
export function limitRanger(store: Store<StoredObject>): AdmissionStep {
  const itemsFor = ({ target }: AdmissionRequest): LimitRangeItem[][] =>
    store
      .list(keyPrefix(limitRanges, target.namespace))
      .records.map(({ value }) => (value.object.spec as { limits?: LimitRangeItem[] } | undefined)?.limits ?? []);
  return {
    name: 'LimitRanger',
    concerns: ({ group, plural }) => group === '' && (plural === 'pods' || plural === 'persistentvolumeclaims'),
    operations: ['CREATE', 'UPDATE'],
    appliesTo: ({ operation, subresource, target, oldObject }) => {
      if (oldObject?.metadata.deletionTimestamp !== undefined) return false;
      // Updates cannot change the resources of a pod.
      if (operation === 'UPDATE' && target.resource.definition.plural === 'pods') return false;
      return subresource === undefined;
    },
    mutate(request) {
      if (request.target.resource.definition.plural !== 'pods') return;
      for (const items of itemsFor(request)) fillIn(must(request.object, 'request.object'), items);
    },
    validate(request) {
      const isPod = request.target.resource.definition.plural === 'pods';
      for (const items of itemsFor(request)) {
        const problems = isPod
          ? podProblems(must(request.object, 'request.object'), items)
          : claimProblems(must(request.object, 'request.object'), items);
        if (problems.length > 0) throw refusal(request, problems);
      }
    },
  };
}

/** An annotation lists the defaulted resources, so that users see where they come from. */
function fillIn(pod: UnstructuredObject, items: readonly LimitRangeItem[]): void {
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const item of items) {
    if (item.type !== 'Container') continue;
    Object.assign(requests, item.defaultRequest);
    Object.assign(limits, item.default);
  }
  const { containers = [], initContainers = [] } = asTyped<ResourcefulPod>(pod).spec ?? {};
  const done = [
    ...containers.flatMap((container) => fillContainer(container, requests, limits, 'container')),
    ...initContainers.flatMap((container) => fillContainer(container, requests, limits, 'init container')),
  ];
  if (done.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [annotation]: `LimitRanger plugin set: ${done.join('; ')}`,
  };
}

function fillContainer(
  container: ResourcefulContainer,
  requests: Record<string, string>,
  limits: Record<string, string>,
  sort: string,
): string[] {
  container.resources ??= {};
  const resources = container.resources as MutableRequirements;
  const done: string[] = [];
  const missingLimits = Object.keys(limits).filter((name) => resources.limits?.[name] === undefined);
  const missingRequests = Object.keys(requests).filter((name) => resources.requests?.[name] === undefined);
  for (const name of missingLimits)
    resources.limits = { ...resources.limits, [name]: must(limits[name], 'limits[name]') };
  for (const name of missingRequests)
    resources.requests = { ...resources.requests, [name]: must(requests[name], 'requests[name]') };
  const words = (names: string[], what: string): string =>
    `${names.sort().join(', ')} ${what} for ${sort} ${container.name}`;
  if (missingRequests.length > 0) done.push(words(missingRequests, 'request'));
  if (missingLimits.length > 0) done.push(words(missingLimits, 'limit'));
  return done;
}

/** Requests and limits of a container, pod or claim. */
interface Asked {
  requests: Amounts;
  limits: Amounts;
}

function podProblems(object: UnstructuredObject, items: readonly LimitRangeItem[]): string[] {
  const pod = asTyped<ResourcefulPod>(object);
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const problems: string[] = [];
  for (const item of items) {
    if (item.type === 'Container') {
      for (const { resources } of [...containers, ...initContainers])
        problems.push(...itemProblems(item, asked(resources)));
    } else if (item.type === 'Pod') {
      const total = { requests: podResources(pod, 'requests'), limits: podResources(pod, 'limits') };
      problems.push(...itemProblems(item, total));
    }
  }
  return problems;
}

function asked(resources: ResourceRequirements | undefined): Asked {
  return { requests: amountsOf(resources?.requests), limits: amountsOf(resources?.limits) };
}

function claimProblems(object: UnstructuredObject, items: readonly LimitRangeItem[]): string[] {
  const { spec } = asTyped<{ spec?: { resources?: ResourceRequirements } }>(object);
  const requests = amountsOf(spec?.resources?.requests);
  const problems: (string | undefined)[] = [];
  for (const { type, min, max } of items) {
    if (type !== 'PersistentVolumeClaim') continue;
    for (const [name, limit] of amountsOf(min))
      problems.push(below(type, name, limit, { requests, limits: new Map() }));
    for (const [name, limit] of amountsOf(max)) problems.push(requestAbove(type, name, limit, requests));
  }
  return problems.filter((problem) => problem !== undefined);
}

function itemProblems({ type, min, max, maxLimitRequestRatio }: LimitRangeItem, desired: Asked): string[] {
  return [
    ...[...amountsOf(min)].map(([name, limit]) => below(type, name, limit, desired)),
    ...[...amountsOf(max)].map(([name, limit]) => above(type, name, limit, desired)),
    ...[...amountsOf(maxLimitRequestRatio)].map(([name, limit]) => ratioAbove(type, name, limit, desired)),
  ].filter((problem) => problem !== undefined);
}

function below(type: string, name: string, enforced: Quantity, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `minimum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (!request) return `${rule}.  No request is specified`;
  if (request.nanos < enforced.nanos) return `${rule}, but request is ${formatQuantity(request)}`;
  return limit && limit.nanos < enforced.nanos ? `${rule}, but limit is ${formatQuantity(limit)}` : undefined;
}

function above(type: string, name: string, enforced: Quantity, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (!limit) return `${rule}.  No limit is specified`;
  if (limit.nanos > enforced.nanos) return `${rule}, but limit is ${formatQuantity(limit)}`;
  return request && request.nanos > enforced.nanos ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function requestAbove(type: string, name: string, enforced: Quantity, requests: Amounts): string | undefined {
  const request = requests.get(name);
  const rule = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (!request) return `${rule}.  No request is specified`;
  return request.nanos > enforced.nanos ? `${rule}, but request is ${formatQuantity(request)}` : undefined;
}

function ratioAbove(type: string, name: string, enforced: Quantity, { requests, limits }: Asked): string | undefined {
  const request = requests.get(name);
  const limit = limits.get(name);
  const rule = `${name} max limit to request ratio per ${type} is ${formatQuantity(enforced)}`;
  if (!request || request.nanos === 0n) return `${rule}, but no request is specified or request is 0`;
  if (!limit || limit.nanos === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(limit.nanos) / Number(request.nanos);
  return ratio > Number(enforced.nanos) / 1e9 ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

function refusal({ target }: AdmissionRequest, problems: readonly string[]): Error {
  const different = [...new Set(problems)];
  const text = aggregateText(different);
  const { plural } = target.resource.definition;
  return statusError.forbidden({ group: '', resource: plural, name: target.name }, text);
}
