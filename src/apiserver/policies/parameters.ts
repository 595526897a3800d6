import { parseApiVersion, type UnstructuredObject } from '../../machinery/index.ts';
import type { ServedResource } from '../registry/index.ts';
import type { ServiceContext } from '../service/context.ts';
import { keyPrefix, objectKey } from '../storage/keys.ts';
import type { ParamRef, Policy } from './policy.ts';

/** A policy or binding is invalid; its failure policy decides what happens to the request. */
export class ConfigurationError extends Error {}

/**
 * Returns the parameters to evaluate a policy with: null for a policy without parameters. An empty list means that the
 * binding does not apply.
 */
export async function collectParameters(
  context: ServiceContext,
  { paramKind }: Policy,
  paramRef: ParamRef | undefined,
  namespace: string | undefined,
): Promise<(UnstructuredObject | null)[]> {
  if (!paramKind || !paramRef) return [null];
  const served = findKind(context, paramKind);
  const { namespaced } = served.resource.definition;
  if (!namespaced && paramRef.namespace !== '') {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const where = namespaced ? paramRef.namespace || namespace : undefined;
  if (namespaced && !where) {
    throw new ConfigurationError(
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  }
  const found = await Promise.all(recordsOf(context, served, paramRef, where));
  if (found.length === 0 && paramRef.whenMissing === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  return found;
}

/** Finds the currently served kind of a policy's parameters. */
export function findKind(context: ServiceContext, paramKind: { apiVersion: string; kind: string }): ServedResource {
  const { group, version } = parseApiVersion(paramKind.apiVersion);
  for (const { definition } of context.registry.all()) {
    if (definition.group !== group || definition.kind !== paramKind.kind) continue;
    const served = context.registry.find(group, version, definition.plural);
    if (served) return served;
  }
  const described = `${group === '' ? '/' : ''}${paramKind.apiVersion}, Kind=${paramKind.kind}`;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${described}'`);
}

function recordsOf(
  { store }: ServiceContext,
  { resource, version }: ServedResource,
  { name, selector }: ParamRef,
  namespace: string | undefined,
): Promise<UnstructuredObject>[] {
  const view = async (record: Parameters<typeof resource.fromRecord>[0]): Promise<UnstructuredObject> =>
    resource.convert(await resource.fromRecord(record), version.name);
  if (name !== '') {
    const record = store.get(objectKey(resource.keySpace, namespace, name));
    return record ? [view(record)] : [];
  }
  const { records } = store.list(keyPrefix(resource.keySpace, namespace));
  return records.filter(({ value }) => selector?.matches(value.labels ?? {})).map(view);
}
