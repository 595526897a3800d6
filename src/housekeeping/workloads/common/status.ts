import { type Client, objectKey } from '../../../client/index.ts';
import {
  type Condition,
  createMergePatch,
  formatTime,
  ignoreNotFound,
  type JsonObject,
  type KubeObject,
  type Resource,
} from '../../../machinery/index.ts';
import { fieldManager } from './names.ts';

/** Writes a whole status where it differs from the stored one; what the new one lacks goes. */
export async function writeStatus<T extends KubeObject & { status?: object }>(
  client: Client,
  resource: Resource<T>,
  object: T,
  status: NonNullable<T['status']>,
): Promise<void> {
  const patch = createMergePatch((object.status ?? {}) as JsonObject, status as JsonObject);
  if (!patch) return;
  const options = { fieldManager, subresource: 'status' };
  await client.patch(resource, objectKey(object), 'merge', { status: patch }, options).catch(ignoreNotFound);
}

/** The list with one condition set; its time moves with its status only. The same list when nothing changes. */
export function setCondition<C extends Condition>(conditions: readonly C[], condition: C, now: number): readonly C[] {
  const before = conditions.find(({ type }) => type === condition.type);
  if (before?.status === condition.status && before.reason === condition.reason && before.message === condition.message)
    return conditions;
  const lastTransitionTime =
    before?.status === condition.status ? (before.lastTransitionTime ?? formatTime(now)) : formatTime(now);
  return [...conditions.filter(({ type }) => type !== condition.type), { ...condition, lastTransitionTime }];
}

export function dropCondition<C extends Condition>(conditions: readonly C[], type: string): readonly C[] {
  return conditions.some((condition) => condition.type === type)
    ? conditions.filter((condition) => condition.type !== type)
    : conditions;
}

/** A counter as Kubernetes writes it: nothing for none. */
export function count<K extends string>(name: K, value: number): { [key in K]?: number } {
  return value === 0 ? {} : ({ [name]: value } as { [key in K]?: number });
}
