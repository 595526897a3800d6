import { formatApiVersion, isJsonObject, must, type UnstructuredObject } from '../../machinery/index.ts';
import type { SubresourceRequest } from './types.ts';

/**
 * Asks admission about what was posted to a subresource, such as an eviction: to webhooks and policies it is the creation
 * of `pods/eviction`. Returns the body as admission left it.
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
