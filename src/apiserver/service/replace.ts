import { clone, type UnstructuredObject } from '../../machinery/index.ts';
import { objectKey } from '../storage/keys.ts';
import type { ServiceContext } from './context.ts';
import { createObject } from './create.ts';
import { checkNameMatches, checkUpdatePreconditions, placeInNamespace } from './metadata.ts';
import type { Caller, NamedTarget, WriteSettings, WrittenObject } from './types.ts';
import { updateObject } from './update.ts';

interface ReplaceRequest {
  readonly subresource: string | undefined;
  readonly draft: UnstructuredObject;
  readonly caller: Caller;
  readonly settings: WriteSettings;
}

/** PUT: replaces the object, or creates it for kinds that allow this. `draft` is private to this call. */
export function replaceObject(
  context: ServiceContext,
  target: NamedTarget,
  { subresource, draft, caller, settings }: ReplaceRequest,
): Promise<WrittenObject> {
  checkNameMatches(draft, target);
  placeInNamespace(draft, target);
  const { resource } = target;
  if (resource.definition.allowCreateOnUpdate && subresource === undefined) {
    const exists = context.store.head(objectKey(resource.keySpace, target.namespace, target.name)) !== undefined;
    if (!exists) {
      context.checkMayCreate(caller.user, target);
      delete draft.metadata.resourceVersion;
      return createObject(context, target, { draft, caller, settings });
    }
  }
  const sent = { ...draft.metadata };
  return updateObject({
    context,
    target,
    subresource,
    caller,
    settings,
    next: (live) => {
      const { unconditional } = checkUpdatePreconditions(sent, live, target);
      // An unconditional replace may be retried, and each attempt modifies its draft.
      return { draft: unconditional ? clone(draft) : draft, conditional: !unconditional };
    },
  });
}
