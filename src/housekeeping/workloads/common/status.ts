import { type Client, objectKey } from '../../../client/index.ts';
import {
  createMergePatch,
  ignoreNotFound,
  type JsonObject,
  type KubeObject,
  type Resource,
} from '../../../machinery/index.ts';
import { fieldManager } from './names.ts';

/** Replaces the status if it differs from the stored one. Fields missing from the new status are removed. */
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

/** Builds a counter field as Kubernetes writes it: zero is omitted. */
export function count<K extends string>(name: K, value: number): { [key in K]?: number } {
  return value === 0 ? {} : ({ [name]: value } as { [key in K]?: number });
}
