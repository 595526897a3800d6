import { clone, formatTime, isJsonObject, type JsonObject, statusError } from '../../machinery/index.ts';
import { updateObject } from '../service/update.ts';
import type { SubresourceAnswer, SubresourceRequest } from './types.ts';

/** POST pods/x/binding: assigns the pod to a node, once. */
export async function handlePodBinding(request: SubresourceRequest): Promise<SubresourceAnswer> {
  const { context, target, caller, settings } = request;
  const body = request.body?.value;
  const bindingTarget = isJsonObject(body) && isJsonObject(body['target']) ? body['target'] : undefined;
  const node = bindingTarget?.['name'];
  if (typeof node !== 'string' || node === '') {
    throw statusError.invalid('', 'Binding', target.name, [{ type: 'Required', field: 'target.name', detail: '' }]);
  }
  const nowMs = context.clock.now();
  await updateObject({
    context,
    target,
    subresource: 'binding',
    caller,
    settings,
    next: (live) => {
      const draft = clone(live);
      const spec = draft.spec as JsonObject;
      const subject = { group: '', resource: 'pods/binding', name: target.name };
      if (live.metadata.deletionTimestamp !== undefined) {
        throw statusError.conflict(subject, `pod ${target.name} is being deleted, cannot be assigned to a host`);
      }
      if (typeof spec['nodeName'] === 'string' && spec['nodeName'] !== '') {
        throw statusError.conflict(subject, `pod ${target.name} is already assigned to node "${spec['nodeName']}"`);
      }
      spec['nodeName'] = node;
      const status = isJsonObject(draft.status) ? draft.status : {};
      const conditions = Array.isArray(status['conditions']) ? (status['conditions'] as JsonObject[]) : [];
      status['conditions'] = [
        ...conditions.filter((condition) => condition['type'] !== 'PodScheduled'),
        { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: formatTime(nowMs) },
      ];
      draft.status = status;
      return { draft, conditional: false };
    },
  });
  return {
    type: 'value',
    code: 201,
    value: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
  };
}
