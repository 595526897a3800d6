import { clone, isJsonObject, statusError } from '../../machinery/index.ts';
import { decodeObject } from '../service/decode.ts';
import { checkUpdatePreconditions } from '../service/metadata.ts';
import { updateObject } from '../service/update.ts';
import type { SubresourceAnswer, SubresourceRequest } from './types.ts';

/**
 * PUT namespaces/x/finalize: the only way to change spec.finalizers. The namespace is deleted with the last finalizer.
 */
export async function handleNamespaceFinalize(request: SubresourceRequest): Promise<SubresourceAnswer> {
  const { context, target, caller, settings } = request;
  if (!request.body) throw statusError.badRequest('the body must be a Namespace object');
  const desired = decodeObject(request.body, target, caller, settings.fieldValidation);
  const finalizers = isJsonObject(desired.spec) ? desired.spec['finalizers'] : undefined;
  const written = await updateObject({
    context,
    target,
    subresource: 'finalize',
    caller,
    settings,
    next: (live) => {
      const { unconditional } = checkUpdatePreconditions(desired.metadata, live, target);
      const draft = clone(live);
      draft.spec = Array.isArray(finalizers) && finalizers.length > 0 ? { finalizers } : {};
      return { draft, conditional: !unconditional };
    },
  });
  return { type: 'written', code: 200, written };
}
