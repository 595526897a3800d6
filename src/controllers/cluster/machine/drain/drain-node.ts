import {
  type Cluster,
  DaemonSets,
  type Machine,
  type MachineDrainRule,
  Namespaces,
  type Node,
  Nodes,
  type Pod,
  Pods,
} from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import {
  ApiStatusError,
  type Clock,
  isForbidden,
  isNotFound,
  isTooManyRequests,
  type KubeObject,
  type ObjectList,
  type Resource,
} from '../../../../machinery/index.ts';
import { controllerOf, explain, fieldManager } from '../../../shared/index.ts';
import { classifyPods, type DrainDecision, rulesForMachine, unreachableGraceSeconds } from './classify.ts';
import { type DrainProgress, planDrain } from './plan.ts';

export interface DrainOptions {
  workload: Client;
  /** all rules in the machine's namespace */
  rules: readonly MachineDrainRule[];
  machine: Machine;
  cluster: Cluster | undefined;
  node: Node;
  clock: Clock;
  signal: AbortSignal;
}

/** Time limit for evictions in one reconcile, so that the worker becomes free; the rest follows in the next. */
const evictionBudgetMs = 10_000;

/** Runs one round of a drain: cordons the Node, then evicts Pods. */
export async function drainNode(options: DrainOptions): Promise<DrainProgress> {
  await cordon(options);
  const unreachable = isUnreachable(options.node);
  const plan = planDrain(await decisions(options, { unreachable }));
  const progress: DrainProgress = {
    terminating: plan.terminating,
    refused: new Map(),
    evictLater: plan.evictLater,
    awaited: plan.awaited,
    awaitedLater: plan.awaitedLater,
  };
  const refuse = (pod: Pod, text: string): void => {
    const pods = progress.refused.get(text);
    if (pods) pods.push(pod);
    else progress.refused.set(text, [pod]);
  };
  const deadline = options.clock.now() + evictionBudgetMs;
  for (const { pod } of plan.evict) {
    if (options.clock.now() >= deadline) {
      refuse(pod, `eviction timeout of ${evictionBudgetMs / 1000}s reached, eviction will be retried`);
      continue;
    }
    try {
      await evict(options, pod, unreachable);
      progress.terminating.push(pod);
    } catch (error) {
      if (options.signal.aborted) throw error;
      // the Pod is gone already
      if (!isNotFound(error)) refuse(pod, refusalText(error));
    }
  }
  return progress;
}

/** Classifies the Pods of a Node; skipped Pods keep their volumes attached. */
export async function decisions(
  options: DrainOptions,
  { unreachable }: { unreachable: boolean },
): Promise<DrainDecision[]> {
  const { workload, signal } = options;
  const pods = await listAll(workload, Pods, signal, `spec.nodeName=${options.node.metadata.name}`);
  if (pods.length === 0) return [];
  const rules = rulesForMachine(options.rules, options.machine, options.cluster);
  const namespaces = rules.some(({ spec }) => spec.pods?.some(({ namespaceSelector }) => namespaceSelector))
    ? new Map((await listAll(workload, Namespaces, signal)).map((entry) => [entry.metadata.name ?? '', entry] as const))
    : new Map();
  return classifyPods(pods, {
    rules,
    namespaces,
    daemonSets: await existingDaemonSets(options, pods),
    unreachable,
    nowMs: options.clock.now(),
  });
}

async function existingDaemonSets({ workload, signal }: DrainOptions, pods: readonly Pod[]): Promise<Set<string>> {
  const asked = new Set<string>();
  const existing = new Set<string>();
  for (const pod of pods) {
    const owner = controllerOf(pod as KubeObject);
    const { namespace } = pod.metadata;
    if (owner?.kind !== 'DaemonSet' || namespace === undefined) continue;
    const id = `${namespace}/${owner.name}`;
    if (asked.has(id)) continue;
    asked.add(id);
    try {
      await workload.get(DaemonSets, { namespace, name: owner.name }, { signal });
      existing.add(id);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return existing;
}

/** Tells whether the node controller marked the Node unreachable: Ready is Unknown. */
export function isUnreachable(node: Node): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') === true;
}

async function cordon({ workload, node, signal }: DrainOptions): Promise<void> {
  if (node.spec?.unschedulable === true) return;
  await workload.patch(
    Nodes,
    { name: node.metadata.name ?? '' },
    'merge',
    { spec: { unschedulable: true } },
    { fieldManager, signal },
  );
}

interface Eviction extends KubeObject {
  deleteOptions?: { gracePeriodSeconds?: number };
}

async function evict({ workload, signal }: DrainOptions, pod: Pod, unreachable: boolean): Promise<void> {
  const { name = '', namespace = '' } = pod.metadata;
  const eviction: Eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: unreachable ? { gracePeriodSeconds: unreachableGraceSeconds } : {},
  };
  await workload.createSubresource(Pods, { namespace, name }, 'eviction', eviction, { fieldManager, signal });
}

function refusalText(error: unknown): string {
  if (error instanceof ApiStatusError) {
    const causes = error.status.details?.causes ?? [];
    if (isTooManyRequests(error)) {
      return [error.status.message ?? error.message, causes.map(({ message }) => message).join(',')].join(' ').trim();
    }
    if (isForbidden(error) && causes.some(({ reason }) => reason === 'NamespaceTerminating')) {
      return 'Cannot evict pod from terminating namespace: unable to create eviction (kube-controller-manager should set deletionTimestamp)';
    }
  }
  return explain(error);
}

const pageSize = 100;

/** Lists all pages; a Node can hold a few hundred Pods. */
export async function listAll<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  signal: AbortSignal,
  fieldSelector?: string,
): Promise<T[]> {
  const all: T[] = [];
  let page: ObjectList<T> | undefined;
  do {
    const next = page?.metadata.continue;
    page = await client.list(resource, {
      limit: pageSize,
      signal,
      ...(fieldSelector !== undefined && { fieldSelector }),
      ...(next !== undefined && { continue: next }),
    });
    all.push(...page.items);
  } while (page.metadata.continue);
  return all;
}
