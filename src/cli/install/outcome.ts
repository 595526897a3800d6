import { asJson, deepEqual, type JsonObject, type KubeObject } from '../../machinery/index.ts';

export type Outcome = 'created' | 'configured' | 'unchanged';

/** Compares the object before and after. Timestamps of an apply without effect count as unchanged. */
export function outcomeOf(before: KubeObject | undefined, after: KubeObject): Outcome {
  if (before === undefined) return 'created';
  return deepEqual(contentOf(before), contentOf(after)) ? 'unchanged' : 'configured';
}

function contentOf(object: KubeObject): JsonObject {
  const { resourceVersion: _, managedFields: __, ...metadata } = asJson(object.metadata);
  // list items have no apiVersion and kind
  const { apiVersion: ___, kind: ____, status: _____, ...rest } = asJson(object);
  return { ...rest, metadata };
}
