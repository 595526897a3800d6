import { formatApiVersion, isJsonObject, must, type UnstructuredObject } from '../../machinery/index.ts';
import type { SubresourceRequest } from './types.ts';

/**
 * Runs admission for the body of a subresource, such as an eviction. Webhooks and policies see it as a create of
 * `pods/eviction`. Returns the body after mutation.
 */
export async function admitBody(request: SubresourceRequest, subresource: string): Promise<UnstructuredObject> {
  const { context, target, caller, settings } = request;
  const { group, version, kind } = must(
    target.resource.definition.subresources.find(({ name }) => name === subresource),
    'value',
  );
  const body = isJsonObject(request.body?.value) ? request.body.value : {};
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
  const object = { ...body, apiVersion: formatApiVersion(group, version), kind, metadata } as UnstructuredObject;
  const admission = {
    operation: 'CREATE' as const,
    target,
    subresource,
    caller,
    object,
    oldObject: undefined,
    dryRun: settings.dryRun,
    options: settings,
    bodyKind: { group, version, kind },
  };
  await context.admission.mutate(admission);
  await context.admission.validate(admission);
  return object;
}
