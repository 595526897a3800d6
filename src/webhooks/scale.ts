import { clone, isJsonObject, type JsonObject, type UnstructuredObject } from '../machinery/index.ts';

/** Sets the replicas at the path of the definition, for example `.spec.replicas`. */
export function withReplicas(object: UnstructuredObject, path: string, replicas: number): UnstructuredObject {
  const copy = clone(object);
  const fields = path.split('.').filter((field) => field !== '');
  const last = fields.pop();
  let parent: JsonObject = copy as JsonObject;
  for (const field of fields) {
    const child = parent[field];
    if (isJsonObject(child)) parent = child;
    else {
      const made: JsonObject = {};
      parent[field] = made;
      parent = made;
    }
  }
  if (last !== undefined) parent[last] = replicas;
  return copy;
}
