import type { Node, Pod } from '../../../api/index.ts';
import { podRequests } from '../../../apiserver/index.ts';
import { must, parseQuantity } from '../../../machinery/index.ts';

/** Reasons for missing room in kube-scheduler's words; empty if there is room. */
export type Shortages = readonly string[];

const noShortage: Shortages = [];
const portsTaken = "node(s) didn't have free ports for the requested pod ports";
const tooManyPods = 'Too many pods';
const one = 1_000_000_000n;

/** Pods are immutable here, so the requests of each are computed once. */
const requests = new WeakMap<Pod, ReadonlyMap<string, bigint>>();

function requestsOf(pod: Pod): ReadonlyMap<string, bigint> {
  let known = requests.get(pod);
  if (!known) {
    known = podRequests(pod);
    requests.set(pod, known);
  }
  return known;
}

interface HostPort {
  readonly protocol: string;
  readonly port: number;
  readonly address: string;
}

const anyAddress = '0.0.0.0';

function hostPortsOf({ spec }: Pod): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, hostIP, protocol = 'TCP' }) =>
      hostPort ? [{ protocol, port: hostPort, address: hostIP || anyAddress }] : [],
    ),
  );
}

function clash(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.address === b.address || a.address === anyAddress || b.address === anyAddress;
}

/** Reports whether a Pod needs more of a node than a free Pod slot. */
export function isDemanding(pod: Pod): boolean {
  return requestsOf(pod).size > 0 || hostPortsOf(pod).length > 0;
}

export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Maximum Pods of a node; undefined if it reports none. */
export function podLimit({ status }: Node): number | undefined {
  const quantity = parseQuantity(status?.allocatable?.['pods']);
  return quantity && Number(quantity.nanos / one);
}

/** Reason and message with which a kubelet rejects a Pod. */
export interface PodRejection {
  readonly reason: string;
  readonly message: string;
}

/**
 * Returns a rejection if a node has no room for an assigned Pod. The scheduler has checked before, but users may set
 * the node or bind the Pod themselves.
 */
export function rejectionOn(node: Node, pod: Pod, others: readonly Pod[]): PodRejection | undefined {
  const [shortage] = shortagesOn(node, pod, others);
  if (shortage === undefined) return undefined;
  if (shortage === portsTaken) return { reason: 'NodePorts', message: `Predicate NodePorts failed: ${portsTaken}` };
  const living = others.filter((other) => !isOver(other));
  if (shortage === tooManyPods)
    return outOf('pods', 1n, BigInt(living.length), BigInt(must(podLimit(node), 'podLimit(node)')));
  const name = shortage.slice(shortage.lastIndexOf(' ') + 1);
  const unit = name === 'cpu' ? one / 1000n : one;
  const used = living.reduce((sum, other) => sum + (requestsOf(other).get(name) ?? 0n), 0n);
  const capacity = parseQuantity(node.status?.allocatable?.[name])?.nanos ?? 0n;
  return outOf(name, (requestsOf(pod).get(name) ?? 0n) / unit, used / unit, capacity / unit);
}

function outOf(name: string, requested: bigint, used: bigint, capacity: bigint): PodRejection {
  const message = `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message };
}

/** Returns what a Pod lacks on a node next to the existing Pods. Finished Pods use nothing. */
export function shortagesOn(node: Node, pod: Pod, others: readonly Pod[]): Shortages {
  const living = others.filter((other) => !isOver(other));
  const wanted = hostPortsOf(pod);
  if (wanted.length > 0) {
    const taken = living.flatMap(hostPortsOf);
    if (wanted.some((port) => taken.some((other) => clash(port, other)))) return [portsTaken];
  }
  const found: string[] = [];
  const limit = podLimit(node);
  if (limit !== undefined && living.length + 1 > limit) found.push(tooManyPods);
  for (const [name, amount] of requestsOf(pod)) {
    if (amount === 0n) continue;
    const allocatable = parseQuantity(node.status?.allocatable?.[name])?.nanos ?? 0n;
    let used = amount;
    for (const other of living) used += requestsOf(other).get(name) ?? 0n;
    if (used > allocatable) found.push(`Insufficient ${name}`);
  }
  return found.length === 0 ? noShortage : found;
}
