import { asTyped, type UnstructuredObject } from '../../machinery/index.ts';
import {
  asHeld,
  hasPodLevelResources,
  podResources,
  type ResourcefulContainer,
  type ResourcefulPod,
} from '../pods/pod-resources.ts';
import { type Amounts, addAmounts, amountsOf, one } from './amounts.ts';
import type { QuotaEvaluator } from './evaluators.ts';
import { isTerminating, podMatchesScope } from './scopes.ts';

const measured = ['cpu', 'memory', 'ephemeral-storage'];
const names = new Set([
  'count/pods',
  'pods',
  ...measured.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
/** Limits on these resources require containers to specify them; otherwise the usage could not be computed. */
const demanded = ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]);

interface PodObject extends ResourcefulPod {
  status?: ResourcefulPod['status'] & { phase?: string };
}

/** Counts pods that have not ended, by their requested resources. */
export const podEvaluator: QuotaEvaluator = {
  kind: { group: '', plural: 'pods' },
  counts: (name) =>
    names.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('requests.hugepages-') ||
    (name.startsWith('requests.') && isExtended(name)),
  handles({ operation, subresource, object, oldObject }) {
    if (subresource !== undefined) return false;
    if (operation === 'CREATE') return true;
    // Adding or removing a deadline moves a pod to another scope.
    return operation === 'UPDATE' && oldObject !== undefined && isTerminating(object) !== isTerminating(oldObject);
  },
  matchesScope: podMatchesScope,
  usage(object, nowMs) {
    const pod = asTyped<PodObject>(object);
    const usage: Amounts = new Map([['count/pods', one]]);
    if (hasEnded(object, nowMs)) return usage;
    const requests = podResources(pod, 'requests', asHeld);
    const limits = podResources(pod, 'limits', asHeld);
    const overhead = amountsOf(pod.spec?.overhead);
    addAmounts(requests, overhead);
    for (const [name, amount] of overhead) {
      if ((limits.get(name)?.nanos ?? 0n) !== 0n) addAmounts(limits, new Map([[name, amount]]));
    }
    addAmounts(usage, usageOf(requests, limits));
    return usage;
  },
  changesAt: graceEnd,
  missing(object, resourceNames) {
    const pod = asTyped<PodObject>(object);
    if (hasPodLevelResources(pod)) return undefined;
    const required = demanded.filter((name) => resourceNames.includes(name)).sort();
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    const lacking = required
      .map((name) => ({ name, containers: containersWithout(name, [...containers, ...initContainers]) }))
      .filter((entry) => entry.containers.length > 0);
    if (lacking.length === 0) return undefined;
    return `must specify ${lacking.map((entry) => `${entry.name} for: ${entry.containers.join(',')}`).join('; ')}`;
  },
};

function containersWithout(name: string, containers: readonly ResourcefulContainer[]): string[] {
  const without = containers.filter(({ resources }) => {
    return !usageOf(amountsOf(resources?.requests), amountsOf(resources?.limits)).has(name);
  });
  return [...new Set(without.map((container) => container.name ?? ''))].sort();
}

function usageOf(requests: Amounts, limits: Amounts): Amounts {
  const usage: Amounts = new Map([['pods', one]]);
  for (const name of measured) {
    const request = requests.get(name);
    const limit = limits.get(name);
    if (request) usage.set(name, request).set(`requests.${name}`, request);
    if (limit) usage.set(`limits.${name}`, limit);
  }
  for (const [name, request] of requests) {
    if (name.startsWith('hugepages-')) usage.set(name, request);
    if (name.startsWith('hugepages-') || isExtended(name)) usage.set(`requests.${name}`, request);
  }
  return usage;
}

/** Tells whether a resource is an extended one, such as `example.com/gpu`. */
function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/');
}

/** Ended pods use nothing, nor do pods whose grace period has passed although no node confirmed it. */
function hasEnded(object: UnstructuredObject, nowMs: number): boolean {
  const { phase } = asTyped<PodObject>(object).status ?? {};
  return phase === 'Succeeded' || phase === 'Failed' || nowMs > (graceEnd(object) ?? Number.POSITIVE_INFINITY);
}

function graceEnd({ metadata }: UnstructuredObject): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return undefined;
  return Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
}
