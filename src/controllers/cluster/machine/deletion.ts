import { type Machine, type MachineDrainRule, MachineDrainRules, Nodes } from '../../../api/index.ts';
import { type Client, objectKey } from '../../../client/index.ts';
import { ignoreNotFound, isNotFound, parseApiVersion } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  explain,
  isDeleting,
  isNotConnected,
  machineFinalizer,
  type ProviderObject,
  preDrainHookPrefix,
  preTerminateHookPrefix,
  withoutFinalizer,
} from '../../shared/index.ts';
import { rememberLeftNode } from '../common/left-nodes.ts';
import { drainPhase, volumePhase } from './deletion-node.ts';
import { begin, type DeletionStep } from './deletion-step.ts';
import { likelyNode } from './likely-node.ts';
import { nodeIsOurs } from './node-protection.ts';
import type { MachineScope, Referenced } from './scope.ts';

const nodeDeletionRetryMs = 2_000;
/** minimum time for Node deletion, regardless of how long the deletion took before */
const nodeDeletionAttemptsMs = 10_000;

/**
 * Deletes a machine in order: hooks, drain, volumes, hooks, infrastructure, bootstrap config, Node. Every reconcile
 * evaluates all steps again, so a crash between two of them is harmless.
 */
export async function reconcileDelete(scope: MachineScope): Promise<Result | undefined> {
  scope.deletion = { reason: 'Deleting', message: 'Deletion started' };
  const mayTouchNode = await nodeIsOurs(scope);
  const isLinked = scope.machine.status?.nodeRef !== undefined;
  const steps: ((scope: MachineScope) => Promise<DeletionStep> | DeletionStep)[] = [
    ...(mayTouchNode && isLinked
      ? [preDrainHooks, (s: MachineScope) => drainPhase(s, () => drainRules(s)), volumes]
      : []),
    preTerminateHooks,
    infrastructure,
    bootstrap,
    ...(mayTouchNode ? [node] : []),
  ];
  for (const step of steps) {
    const outcome = await step(scope);
    if (outcome === 'done') continue;
    scope.deletion = { reason: outcome.reason, message: outcome.message };
    return outcome.wait;
  }
  scope.deletion = { reason: 'DeletionCompleted', message: 'Deletion completed' };
  scope.context.log.info('Machine deleted', { machine: scope.machine.metadata.name });
  scope.machine.metadata.finalizers = withoutFinalizer(scope.machine.metadata.finalizers, machineFinalizer);
  return undefined;
}

const volumes = (scope: MachineScope): Promise<DeletionStep> => volumePhase(scope, () => drainRules(scope));

/** MachineDrainRules are few and rarely needed, so they are listed without a cache. */
async function drainRules({ context, machine }: MachineScope): Promise<MachineDrainRule[]> {
  const { namespace } = machine.metadata;
  try {
    const list = await context.client.list(MachineDrainRules, {
      ...(namespace !== undefined && { namespace }),
      signal: context.signal,
    });
    return list.items;
  } catch (error) {
    // the kind is not installed, so there are no rules
    if (isNotFound(error)) return [];
    throw error;
  }
}

function hooks(machine: Machine, prefix: string): string[] {
  return Object.keys(machine.metadata.annotations ?? {})
    .filter((key) => key.startsWith(prefix))
    .sort();
}

function preDrainHooks({ machine, context }: MachineScope): DeletionStep {
  const waiting = hooks(machine, preDrainHookPrefix);
  if (waiting.length === 0) return 'done';
  begin(machine, 'waitForPreDrainHookStartTime', context.clock.now());
  return {
    wait: undefined,
    reason: 'WaitingForPreDrainHook',
    message: `Waiting for pre-drain hooks to succeed (hooks: ${waiting.join(',')})`,
  };
}

function preTerminateHooks({ machine, context }: MachineScope): DeletionStep {
  const waiting = hooks(machine, preTerminateHookPrefix);
  if (waiting.length === 0) return 'done';
  begin(machine, 'waitForPreTerminateHookStartTime', context.clock.now());
  return {
    wait: undefined,
    reason: 'WaitingForPreTerminateHook',
    message: `Waiting for pre-terminate hooks to succeed (hooks: ${waiting.join(',')})`,
  };
}

async function infrastructure(scope: MachineScope): Promise<DeletionStep> {
  const { kind } = scope.machine.spec.infrastructureRef;
  return await deleteReferenced(scope, scope.infrastructure, kind, 'WaitingForInfrastructureDeletion');
}

async function bootstrap(scope: MachineScope): Promise<DeletionStep> {
  const kind = scope.machine.spec.bootstrap.configRef?.kind ?? '';
  return await deleteReferenced(scope, scope.bootstrap, kind, 'WaitingForBootstrapDeletion');
}

/** Deletes an owned object and waits until its finalizers are gone. */
async function deleteReferenced(
  scope: MachineScope,
  referenced: Referenced,
  kind: string,
  reason: string,
): Promise<DeletionStep> {
  if (referenced.state === 'missing' || referenced.state === 'none') return 'done';
  if (referenced.state === 'failed') {
    const message = `Failed to delete ${kind}: ${referenced.problem}`;
    // a kind that was uninstalled has no objects left; other errors may be temporary
    return { wait: after(30_000, message), reason, message };
  }
  await deleteProvider(scope, referenced.provider);
  return { wait: undefined, reason, message: `Waiting for ${kind} to be deleted` };
}

async function deleteProvider({ context, follower }: MachineScope, { object }: ProviderObject): Promise<void> {
  if (isDeleting(object)) return;
  const { group } = parseApiVersion(object.apiVersion);
  const { resource } = await follower.kindOf({ apiGroup: group, kind: object.kind }, context.signal);
  const { uid } = object.metadata;
  await context.client
    .delete(resource, objectKey(object), {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    })
    .catch(ignoreNotFound);
}

async function node(scope: MachineScope): Promise<DeletionStep> {
  const { machine, context, cluster, dependencies, nodeDeletionAttempts } = scope;
  if (!cluster) return 'done';
  const uid = machine.metadata.uid ?? '';
  let name = machine.status?.nodeRef?.name;
  try {
    const workload = dependencies.workloads.client(objectKey(cluster));
    name ??= await unlinkedNode(scope, workload);
    if (name !== undefined) await workload.delete(Nodes, { name }, { signal: context.signal }).catch(ignoreNotFound);
    nodeDeletionAttempts.delete(uid);
    return 'done';
  } catch (error) {
    if (context.signal.aborted) throw error;
    const now = context.clock.now();
    const first = nodeDeletionAttempts.get(uid) ?? now;
    nodeDeletionAttempts.set(uid, first);
    const limit = machine.spec.deletion?.nodeDeletionTimeoutSeconds ?? 10;
    const begun = Date.parse(machine.metadata.deletionTimestamp ?? '');
    const expired = limit > 0 && now - begun >= limit * 1000 && now - first >= nodeDeletionAttemptsMs;
    context.events.event(machine, 'Warning', 'FailedDeleteNode', `error deleting Machine's Node: ${explain(error)}`);
    if (expired) {
      const remembered = await rememberLeftNode(context, cluster, machine);
      nodeDeletionAttempts.delete(uid);
      const later = remembered ? 'it is deleted when the workload API answers' : 'too many wait for their deletion';
      context.log.warn(`Node was left behind: its deletion did not succeed in time; ${later}`, { node: name, error });
      return 'done';
    }
    return {
      wait: after(
        nodeDeletionRetryMs,
        isNotConnected(error) ? 'the workload API is not connected' : 'deleting the Node',
      ),
      reason: 'DeletingNode',
      message: `Error deleting Node ${name ?? `of ${machine.spec.providerID}`}: ${explain(error)}`,
    };
  }
}

/**
 * Finds the Node of a machine without nodeRef. It may have joined while the API was unreachable, or belong to an
 * earlier server with the same name. The server is gone by now, so the provider ID in the API decides.
 */
async function unlinkedNode(scope: MachineScope, workload: Client): Promise<string | undefined> {
  const { providerID } = scope.machine.spec;
  if (providerID === undefined) return undefined;
  const { items } = await workload.list(Nodes, { signal: scope.context.signal });
  const found = items.find(({ spec }) => spec?.providerID === providerID) ?? likelyNode(scope, items);
  return found?.metadata.name;
}
