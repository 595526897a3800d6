import { type Amounts, addAmounts, amountsOf, type ResourceList, raiseAmounts } from '../quota/amounts.ts';

type Side = 'requests' | 'limits';

export interface ResourceRequirements {
  requests?: ResourceList;
  limits?: ResourceList;
}

/** The fields of a pod that concern resources. */
export interface ResourcefulPod {
  spec?: {
    containers?: ResourcefulContainer[];
    initContainers?: ResourcefulContainer[];
    resources?: ResourceRequirements;
    overhead?: ResourceList;
  };
  status?: {
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
    conditions?: { type?: string; reason?: string }[];
  };
}

export interface ResourcefulContainer {
  name?: string;
  restartPolicy?: string;
  resources?: ResourceRequirements;
}

interface ContainerStatus {
  name?: string;
  resources?: ResourceRequirements;
  allocatedResources?: ResourceList;
}

/**
 * Computes the maximum resources of a pod at any moment: all containers and sidecars together, or an init container
 * with the sidecars started before it. Pod-level resources take precedence.
 */
export function podResources(pod: ResourcefulPod, side: Side, amountsFor: AmountsFor = asDesired): Amounts {
  const { containers = [], initContainers = [], resources } = pod.spec ?? {};
  const total: Amounts = new Map();
  for (const container of containers) addAmounts(total, amountsFor(pod, container, side));
  const sidecars: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const container of initContainers) {
    const amounts = amountsFor(pod, container, side);
    if (container.restartPolicy === 'Always') {
      addAmounts(total, amounts);
      addAmounts(sidecars, amounts);
      raiseAmounts(starting, sidecars);
    } else {
      const together = new Map(amounts);
      addAmounts(together, sidecars);
      raiseAmounts(starting, together);
    }
  }
  raiseAmounts(total, starting);
  for (const [name, amount] of amountsOf(resources?.[side])) if (isPodLevel(name)) total.set(name, amount);
  return total;
}

/**
 * Returns the resources that a pod takes on a node, in billionths: its requests and the overhead of its runtime class.
 */
export function podRequests(pod: ResourcefulPod): ReadonlyMap<string, bigint> {
  const total = podResources(pod, 'requests');
  addAmounts(total, amountsOf(pod.spec?.overhead));
  return new Map([...total].map(([name, { nanos }]) => [name, nanos]));
}

type AmountsFor = (pod: ResourcefulPod, container: ResourcefulContainer, side: Side) => Amounts;

const asDesired: AmountsFor = (_pod, { resources }, side) => amountsOf(resources?.[side]);

/** Returns what a running container holds, while a resize to less is pending or a resize to more is infeasible. */
export const asHeld: AmountsFor = (pod, container, side) => {
  const isSidecar = pod.spec?.initContainers?.includes(container) && container.restartPolicy === 'Always';
  const statuses = isSidecar ? pod.status?.initContainerStatuses : pod.status?.containerStatuses;
  const desired = amountsOf(container.resources?.[side]);
  const status = statuses?.find(({ name }) => name === container.name);
  if (!status?.resources || (pod.spec?.initContainers?.includes(container) && !isSidecar)) return desired;
  const infeasible = pod.status?.conditions?.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
  const held: Amounts = infeasible ? new Map() : new Map(desired);
  raiseAmounts(held, amountsOf(status.resources[side]));
  if (side === 'requests') raiseAmounts(held, amountsOf(status.allocatedResources));
  return held;
};

/** Tells whether a resource can be requested for the whole pod instead of per container. */
export function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

export function hasPodLevelResources({ spec }: ResourcefulPod): boolean {
  const { requests = {}, limits = {} } = spec?.resources ?? {};
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodLevel);
}

/** Tells whether a pod has neither requests nor limits of CPU and memory. Such pods are evicted first. */
export function isBestEffort(pod: ResourcefulPod): boolean {
  const { containers = [], initContainers = [], resources } = pod.spec ?? {};
  const asked = hasPodLevelResources(pod) ? [resources] : [...containers, ...initContainers].map((c) => c.resources);
  return asked.every((requirements) =>
    [requirements?.requests, requirements?.limits].every((list) => {
      const amounts = amountsOf(list);
      return ['cpu', 'memory'].every((name) => (amounts.get(name)?.nanos ?? 0n) <= 0n);
    }),
  );
}
