import {
  clone,
  formatTime,
  isJsonObject,
  type JsonObject,
  labelSelectorFromObject,
  must,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { type DeleteSettings, deleteObject } from '../service/delete.ts';
import { getRecord } from '../service/reads.ts';
import { updateObject } from '../service/update.ts';
import { keyPrefix } from '../storage/keys.ts';
import { admitBody } from './admit-body.ts';
import type { SubresourceAnswer, SubresourceRequest } from './types.ts';

/** POST pods/x/eviction: deletes a pod if its disruption budgets allow it. */
export async function handlePodEviction(request: SubresourceRequest): Promise<SubresourceAnswer> {
  const { context, target, caller, settings } = request;
  const record = await getRecord(context, target, caller, {});
  const pod = await target.resource.fromRecord(record);
  const eviction = await admitBody(request, 'eviction');
  if (isDisruption(pod)) await takeFromBudget(request, pod);
  const options = isJsonObject(eviction['deleteOptions']) ? eviction['deleteOptions'] : {};
  const grace = options['gracePeriodSeconds'];
  const deletion: DeleteSettings = {
    dryRun: settings.dryRun || (Array.isArray(options['dryRun']) && options['dryRun'].includes('All')),
    ...(typeof grace === 'number' && { gracePeriodSeconds: grace }),
    preconditions: {
      ...(pod.metadata.uid !== undefined && { uid: pod.metadata.uid }),
      ...(isJsonObject(options['preconditions']) ? options['preconditions'] : {}),
    },
  };
  // The condition is set before the deletion, so that controllers such as Job can distinguish an eviction from a
  // failure.
  if (!deletion.dryRun) await markEvicted(request, pod);
  await deleteObject(context, target, caller, deletion);
  return {
    type: 'value',
    code: 201,
    value: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
  };
}

async function markEvicted(
  { context, target, caller, settings }: SubresourceRequest,
  pod: UnstructuredObject,
): Promise<void> {
  await updateObject({
    context,
    target,
    subresource: 'status',
    caller,
    settings,
    next: (live) => {
      const draft = clone(live);
      if (live.metadata.uid !== pod.metadata.uid) return { draft, conditional: false };
      const status: JsonObject = isJsonObject(draft.status) ? draft.status : {};
      const conditions = Array.isArray(status['conditions']) ? status['conditions'] : [];
      const others = conditions.filter((one) => !isJsonObject(one) || one['type'] !== 'DisruptionTarget');
      if (others.length < conditions.length) return { draft, conditional: false };
      const condition: JsonObject = {
        type: 'DisruptionTarget',
        status: 'True',
        observedGeneration: live.metadata.generation ?? 1,
        lastTransitionTime: formatTime(context.clock.now()),
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      };
      draft.status = { ...status, conditions: [...others, condition] };
      return { draft, conditional: false };
    },
  });
}

/** Finished, pending and terminating pods do not count as disruption. */
function isDisruption(pod: UnstructuredObject): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const phase = isJsonObject(pod.status) ? pod.status['phase'] : undefined;
  return phase !== 'Succeeded' && phase !== 'Failed' && phase !== 'Pending';
}

async function takeFromBudget(request: SubresourceRequest, pod: UnstructuredObject): Promise<void> {
  const { context, target, caller, settings } = request;
  const budgets = context.registry.find('policy', 'v1', 'poddisruptionbudgets');
  if (!budgets) return;
  const matching: UnstructuredObject[] = [];
  for (const record of context.store.list(keyPrefix(budgets.resource.keySpace, target.namespace)).records) {
    const budget = await budgets.resource.fromRecord(record);
    const spec = isJsonObject(budget.spec) ? budget.spec : {};
    const selector = spec['selector'];
    if (isJsonObject(selector) && labelSelectorFromObject(selector).matches(pod.metadata.labels ?? {}))
      matching.push(budget);
  }
  if (matching.length > 1) {
    throw statusError.internal(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const budget = matching[0];
  if (!budget || isMissedByNobody(pod, budget)) return;
  const name = must(budget.metadata.name, 'metadata.name');
  await updateObject({
    context,
    target: { ...budgets, namespace: target.namespace, name },
    subresource: 'status',
    caller,
    settings,
    next: (live) => {
      const draft = clone(live);
      const status: JsonObject = isJsonObject(draft.status) ? draft.status : {};
      if (Number(status['observedGeneration'] ?? 0) < Number(live.metadata.generation ?? 0)) throw notYetCounted(live);
      const allowed = Number(status['disruptionsAllowed'] ?? 0);
      if (allowed <= 0) throw budgetViolated(live);
      status['disruptionsAllowed'] = allowed - 1;
      status['disruptedPods'] = {
        ...(isJsonObject(status['disruptedPods']) ? status['disruptedPods'] : {}),
        [target.name]: formatTime(context.clock.now()),
      };
      draft.status = status;
      return { draft, conditional: false };
    },
  });
}

/** Evicting a Pod that is not ready is allowed while enough others are healthy, or if the budget allows it. */
function isMissedByNobody(pod: UnstructuredObject, budget: UnstructuredObject): boolean {
  const podStatus = isJsonObject(pod.status) ? pod.status : {};
  const conditions = Array.isArray(podStatus['conditions']) ? podStatus['conditions'] : [];
  if (conditions.some((one) => isJsonObject(one) && one['type'] === 'Ready' && one['status'] === 'True')) return false;
  const spec = isJsonObject(budget.spec) ? budget.spec : {};
  if (spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return true;
  const status = isJsonObject(budget.status) ? budget.status : {};
  const desired = Number(status['desiredHealthy'] ?? 0);
  return desired > 0 && Number(status['currentHealthy'] ?? 0) >= desired;
}

function notYetCounted(budget: UnstructuredObject): Error {
  const error = statusError.tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10);
  const message = `The disruption budget ${budget.metadata.name} is still being processed by the server.`;
  error.status.details = { ...error.status.details, causes: [{ reason: 'DisruptionBudget', message }] };
  return error;
}

function budgetViolated(budget: UnstructuredObject): Error {
  const status = isJsonObject(budget.status) ? budget.status : {};
  const error = statusError.tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.");
  // No Retry-After, as upstream: clients decide how long to retry an eviction.
  error.status.details = {
    causes: [
      {
        reason: 'DisruptionBudget',
        message: `The disruption budget ${budget.metadata.name} needs ${Number(status['desiredHealthy'] ?? 0)} healthy pods and has ${Number(status['currentHealthy'] ?? 0)} currently`,
      },
    ],
  };
  return error;
}
