import { type Amounts, addAmounts, amountsOf, type ResourceList, raiseAmounts } from '../quota/amounts.ts';

type Side = 'requests' | 'limits';

export interface ResourceRequirements {
  requests?: ResourceList;
  limits?: ResourceList;
}

/** What a pod says about resources. */
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
 * What a pod asks for at most at any moment: its containers and sidecars together, or whichever init container needs
 * more with the sidecars started before it. What the pod says for itself as a whole goes before all of that.
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

/** What a pod takes of a node, in billionths: its requests and what its runtime class costs. */
export function podRequests(pod: ResourcefulPod): ReadonlyMap<string, bigint> {
  const total = podResources(pod, 'requests');
  addAmounts(total, amountsOf(pod.spec?.overhead));
  return new Map([...total].map(([name, { nanos }]) => [name, nanos]));
}

type AmountsFor = (pod: ResourcefulPod, container: ResourcefulContainer, side: Side) => Amounts;

const asDesired: AmountsFor = (_pod, { resources }, side) => amountsOf(resources?.[side]);

/** Counts what a running container still holds, when it was told to take less or could not take more. */
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

/** Resources a pod may ask for as a whole, instead of container by container. */
export function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

export function hasPodLevelResources({ spec }: ResourcefulPod): boolean {
  const { requests = {}, limits = {} } = spec?.resources ?? {};
  return [...Object.keys(requests), ...Object.keys(limits)].some(isPodLevel);
}

/** Neither requests nor limits of processor or memory: first to go when a node runs short. */
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
