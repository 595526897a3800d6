import { asJson, deepEqual, type JsonObject, type KubeObject } from '../../machinery/index.ts';

/** What applying an object came to. */
export type Outcome = 'created' | 'configured' | 'unchanged';

/** By the objects before and after. API servers may note the time of an apply that changed nothing: that is no change. */
export function outcomeOf(before: KubeObject | undefined, after: KubeObject): Outcome {
  if (before === undefined) return 'created';
  return deepEqual(contentOf(before), contentOf(after)) ? 'unchanged' : 'configured';
}

function contentOf(object: KubeObject): JsonObject {
  const { resourceVersion: _, managedFields: __, ...metadata } = asJson(object.metadata);
  // items of lists leave out what all of them are
  const { apiVersion: ___, kind: ____, status: _____, ...rest } = asJson(object);
  return { ...rest, metadata };
}
