import {
  type FieldRequirement,
  type LabelSelectorMatcher,
  must,
  parseFieldSelector,
  parseLabelSelector,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { CompactedError, type ListResult, type StoreRecord } from '../../store/index.ts';
import type { RegisteredResource } from '../registry/index.ts';
import { keyPrefix, nameOfKey, namespaceOfKey, objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { ServiceContext } from './context.ts';
import { continueTokenTtlMs, decodeContinue, encodeContinue } from './continue-token.ts';
import type { Caller, NamedTarget, Target } from './types.ts';

export type ResourceVersionMatch = 'Exact' | 'NotOlderThan';

export interface ReadSettings {
  resourceVersion?: string;
}

export interface ListSettings {
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
  sendInitialEvents?: boolean;
}

export interface ListedPage {
  records: readonly StoreRecord<StoredObject>[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** Maximum time that a read waits for a future revision. */
const revisionWaitMs = 3000;

export async function getRecord(
  context: ServiceContext,
  target: NamedTarget,
  caller: Caller,
  settings: ReadSettings,
): Promise<StoreRecord<StoredObject>> {
  if (settings.resourceVersion !== undefined) {
    await reachRevision(context, parseResourceVersion(settings.resourceVersion), caller.signal);
  }
  const record = context.store.get(objectKey(target.resource.keySpace, target.namespace, target.name));
  if (!record) {
    const { definition } = target.resource;
    throw statusError.notFound({ group: definition.group, resource: definition.plural, name: target.name });
  }
  return record;
}

/** Waits until the store reaches a revision that the client has already seen. */
export async function reachRevision(context: ServiceContext, revision: number, signal: AbortSignal): Promise<void> {
  if (revision <= context.store.revision) return;
  const timeout = new AbortController();
  const cancel = context.clock.after(revisionWaitMs, () => timeout.abort());
  try {
    await context.store.waitFor(revision, AbortSignal.any([signal, timeout.signal]));
  } catch {
    throw statusError.timeout(`Too large resource version: ${revision}, current: ${context.store.revision}`, 1, [
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
    ]);
  } finally {
    cancel();
  }
}

export function parseResourceVersion(text: string): number {
  if (text === '' || text === '0') return 0;
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw statusError.badRequest(
      `invalid resource version: resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    );
  }
  return Number(text);
}

/** Tells whether a stored object matches; undefined if all objects match. */
export type RecordFilter = (record: StoreRecord<StoredObject>) => boolean;

/** Limit of requirements, because each one is evaluated for every object, and in watches for every change. */
const maxRequirements = 500;

/** Compiles label and field selectors into one filter. Field selectors apply to the object in the requested version. */
export function compileFilter(target: Target, labelSelector: string, fieldSelector: string): RecordFilter | undefined {
  const labels = parseSelectorText(() => parseLabelSelector(labelSelector));
  const fields = parseSelectorText(() => parseFieldSelector(fieldSelector)).map((requirement) =>
    compileFieldRequirement(target, requirement),
  );
  if (labels.requirements.length > maxRequirements || fields.length > maxRequirements) {
    throw statusError.badRequest(`a selector has more than ${maxRequirements} requirements`);
  }
  if (labels.empty && fields.length === 0) return undefined;
  return (record) => {
    if (!labels.empty && !labels.matches(record.value.labels ?? {})) return false;
    if (fields.length === 0) return true;
    return fields.every((matches) => matches(record));
  };
}

function parseSelectorText<T extends LabelSelectorMatcher | FieldRequirement[]>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw statusError.badRequest(error instanceof Error ? error.message : String(error));
  }
}

function compileFieldRequirement(target: Target, requirement: FieldRequirement): RecordFilter {
  const { resource, version } = target;
  const wanted = requirement.operator !== '!=';
  const { field, value } = requirement;
  if (field === 'metadata.name' || field === 'metadata.namespace') {
    const { namespaced } = resource.definition;
    const part = field === 'metadata.name' ? nameOfKey : (key: string) => (namespaced ? namespaceOfKey(key) : '');
    return (record) => (part(record.key) === value) === wanted;
  }
  const { selectableFields } = version;
  const read = selectableFields && Object.hasOwn(selectableFields, field) ? selectableFields[field] : undefined;
  if (!read) {
    throw statusError.badRequest(
      version.selectableFields
        ? `field label not supported: ${field}`
        : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
  return (record) => (read(objectForFields(resource, record)) === value) === wanted;
}

/** Field selectors are evaluated on the storage version. Kinds whose conversion needs a webhook have no such fields. */
function objectForFields(resource: RegisteredResource, record: StoreRecord<StoredObject>): UnstructuredObject {
  const object = resource.fromRecord(record);
  return object instanceof Promise ? record.value.object : object;
}

/** Returns the name in `fieldSelector=metadata.name=x`, so that one key is read instead of scanning. */
export function singleName(fieldSelector: string): string | undefined {
  return /^metadata\.name==?([^,=!\\]+)$/.exec(fieldSelector)?.[1];
}

export async function listRecords(
  context: ServiceContext,
  target: Target,
  caller: Caller,
  settings: ListSettings,
): Promise<ListedPage> {
  checkListSettings(settings);
  const filter = compileFilter(target, settings.labelSelector ?? '', settings.fieldSelector ?? '');
  const prefix = keyPrefix(target.resource.keySpace, target.namespace);
  const limit = settings.limit !== undefined && settings.limit > 0 ? settings.limit : undefined;

  let revision: number | undefined;
  let after: string | undefined;
  let begunMs = context.clock.now();
  if (settings.continue) {
    if ((settings.resourceVersion ?? '') !== '' && settings.resourceVersion !== '0') {
      throw statusError.badRequest('specifying resource version is not allowed when using continue');
    }
    const token = decodeContinue(settings.continue, prefix);
    if (token.revision > context.store.revision)
      throw statusError.badRequest('invalid continue token: its revision is not of this server');
    after = token.startKey;
    if (token.revision > 0) {
      if (begunMs - token.begunMs > continueTokenTtlMs) throw expiredContinue(prefix, after, begunMs);
      revision = token.revision;
      begunMs = token.begunMs;
    }
  } else if (settings.resourceVersion !== undefined && settings.resourceVersion !== '') {
    const asked = parseResourceVersion(settings.resourceVersion);
    await reachRevision(context, asked, caller.signal);
    if (settings.resourceVersionMatch === 'Exact') revision = asked;
  }
  const name = settings.continue ? undefined : singleName(settings.fieldSelector ?? '');
  if (
    name !== undefined &&
    revision === undefined &&
    (target.namespace !== undefined || !target.resource.definition.namespaced)
  ) {
    const record = context.store.get(prefix + name);
    const wanted = record && (!filter || filter(record));
    return { records: wanted ? [record] : [], resourceVersion: String(context.store.revision) };
  }
  try {
    return await collectPage(context, caller, prefix, { filter, limit, revision, after, begunMs });
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (settings.continue) throw expiredContinue(prefix, after ?? prefix, context.clock.now());
    throw statusError.expired(
      `The resourceVersion for the provided list is too old: ${error.requested} (${error.compacted})`,
    );
  }
}

async function collectPage(
  context: ServiceContext,
  caller: Caller,
  prefix: string,
  options: {
    filter: RecordFilter | undefined;
    limit: number | undefined;
    revision: number | undefined;
    after: string | undefined;
    begunMs: number;
  },
): Promise<ListedPage> {
  const { filter, limit, begunMs } = options;
  const goOn = (snapshot: number, last: StoreRecord<StoredObject>): string =>
    encodeContinue({ revision: snapshot, startKey: last.key, begunMs }, prefix);
  const read = (after: string | undefined, count: number | undefined): ListResult<StoredObject> =>
    context.store.list(prefix, {
      ...(options.revision !== undefined && { revision: options.revision }),
      ...(after !== undefined && { after }),
      ...(count !== undefined && { limit: count }),
    });
  if (!filter) {
    const page = read(options.after, limit);
    return {
      records: page.records,
      resourceVersion: String(page.revision),
      ...(page.remaining > 0 && {
        continue: goOn(page.revision, must(page.records.at(-1), 'the last of page.records')),
        remainingItemCount: page.remaining,
      }),
    };
  }
  const all = read(options.after, undefined);
  const records: StoreRecord<StoredObject>[] = [];
  for (const record of all.records) {
    const wait = caller.pause?.();
    if (wait) await wait;
    if (!filter(record)) continue;
    if (limit !== undefined && records.length === limit) {
      return {
        records,
        resourceVersion: String(all.revision),
        continue: goOn(all.revision, must(records.at(-1), 'the last of records')),
      };
    }
    records.push(record);
  }
  return { records, resourceVersion: String(all.revision) };
}

/** Builds the 410 error with a token to continue with the current state. */
function expiredContinue(prefix: string, startKey: string, begunMs: number): Error {
  const expired = statusError.expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  expired.status.metadata.continue = encodeContinue({ revision: -1, startKey, begunMs }, prefix);
  return expired;
}

/** Refuses invalid combinations of list parameters with upstream's messages. */
function checkListSettings(settings: ListSettings): void {
  const invalid = (field: string, detail: string, type: 'Forbidden' | 'NotSupported' = 'Forbidden'): Error =>
    statusError.invalid('meta.k8s.io', 'ListOptions', '', [
      { type, field, detail, value: settings.resourceVersionMatch },
    ]);
  const match = settings.resourceVersionMatch ?? '';
  if (settings.sendInitialEvents !== undefined) {
    throw invalid('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  }
  if (match === '') return;
  if (settings.continue)
    throw invalid('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided');
  if ((settings.resourceVersion ?? '') === '') {
    throw invalid('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    throw invalid('resourceVersionMatch', 'supported values: "Exact", "NotOlderThan", ""', 'NotSupported');
  }
  if (match === 'Exact' && settings.resourceVersion === '0') {
    throw invalid('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
}
