import {
  applySchemaDefaults,
  asJson,
  type ManagedFieldsEntry,
  must,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { ConflictError } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import { maxStoredBytes } from '../storage/stored-object.ts';
import { type ServiceContext, strategyContextFor } from './context.ts';
import { recordCreate, setManagedFields } from './managed-fields.ts';
import { dropDuplicateOwners, generateName, placeInNamespace, stampForCreate } from './metadata.ts';
import {
  type Caller,
  type NamedTarget,
  namedTarget,
  type Target,
  type WriteSettings,
  type WrittenObject,
} from './types.ts';
import { toStorageVersion, validateObject } from './validate.ts';

const generateNameTries = 8;

interface CreateRequest {
  readonly draft: UnstructuredObject;
  readonly caller: Caller;
  readonly settings: WriteSettings;
  /** precomputed field ownership (server-side apply); otherwise the creator owns the sent fields */
  readonly managedFields?: ManagedFieldsEntry[] | undefined;
}

/**
 * Stores a new object. `draft` is in the version of the target and private to this call. The returned object is in the
 * storage version.
 */
export async function createObject(
  context: ServiceContext,
  target: Target,
  { draft, caller, settings, managedFields }: CreateRequest,
): Promise<WrittenObject> {
  const { definition } = target.resource;
  placeInNamespace(draft, target);
  if (
    draft.metadata.resourceVersion !== undefined &&
    draft.metadata.resourceVersion !== '' &&
    draft.metadata.resourceVersion !== '0'
  ) {
    throw statusError.badRequest('resourceVersion should not be set on objects to be created');
  }
  const generated = (draft.metadata.name ?? '') === '' ? draft.metadata.generateName : undefined;
  for (let attempt = 1; ; attempt++) {
    if (generated) draft.metadata.name = generateName(generated, context.random);
    try {
      const named = namedTarget(target, draft.metadata.name ?? '');
      return await createNamed(context, named, { draft, caller, settings, managedFields });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      if (!generated || attempt === generateNameTries) {
        await context.store.settled(error.key);
        throw statusError.alreadyExists({
          group: definition.group,
          resource: definition.plural,
          name: must(draft.metadata.name, 'metadata.name'),
        });
      }
    }
  }
}

async function createNamed(
  context: ServiceContext,
  target: NamedTarget,
  { draft, caller, settings, managedFields }: CreateRequest,
): Promise<WrittenObject> {
  const { resource } = target;
  const { strategy } = resource.definition;
  const nowMs = context.clock.now();
  const strategyContext = strategyContextFor(context, caller, settings, nowMs);
  dropDuplicateOwners(draft, caller);
  if (resource.isCustom) applySchemaDefaults(asJson(draft), target.version.schema);
  const converted = toStorageVersion(target, draft);
  const object = converted instanceof Promise ? await converted : converted;
  stampForCreate(object, target, { nowMs, random: context.random });
  if (target.version.hasStatus && resource.isCustom) delete object.status;
  strategy.applyDefaults?.(object);
  // Ownership is recorded before the server adds its own fields, which nobody owns.
  if (managedFields) setManagedFields(object, managedFields);
  else {
    const recording = recordCreate(target, object, settings, nowMs);
    if (recording) await recording;
  }
  strategy.prepareForCreate?.(object, strategyContext);

  const admission = {
    operation: 'CREATE' as const,
    target,
    subresource: undefined,
    caller,
    object,
    oldObject: undefined,
    dryRun: settings.dryRun,
    options: settings,
  };
  const mutating = context.admission.mutate(admission);
  if (mutating) {
    await mutating;
    dropDuplicateOwners(object, caller, ' after mutating admission happens');
    strategy.applyDefaults?.(object);
  }
  const checking = validateObject({ target, object, old: undefined, subresource: undefined, strategyContext });
  if (checking) await checking;
  const validating = context.admission.validate(admission);
  if (validating) await validating;
  for (const warning of strategy.warnings?.(object) ?? []) caller.warn(warning);

  // Last step, so that neither ownership nor admission see these defaults.
  resource.fillStorageDefaults(object, target.version);
  const key = objectKey(resource.keySpace, object.metadata.namespace, target.name);
  if (settings.dryRun) {
    const live = context.store.head(key);
    if (live) throw new ConflictError(key, live.revision);
    return { object, json: undefined, created: true };
  }
  const record = await context.store.put(key, { kind: 'absent' }, (revision) => {
    object.metadata.resourceVersion = String(revision);
    return resource.toStored(object, nowMs, maxStoredBytes);
  });
  return { object, json: resource.isDirect(record) ? record.value.json : undefined, created: true };
}
