import { ignoreNotFound, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import type { StoreRecord } from '../../store/index.ts';
import { nameOfKey, namespaceOfKey, objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { type ApplyRequest, applyObject } from './apply.ts';
import type { ServiceContext } from './context.ts';
import { createObject } from './create.ts';
import { decodeObject } from './decode.ts';
import { type DeleteResult, type DeleteSettings, deleteObject } from './delete.ts';
import { type PatchRequest, patchObject } from './patch.ts';
import { getRecord, type ListedPage, type ListSettings, listRecords } from './reads.ts';
import { replaceObject } from './replace.ts';
import {
  type Caller,
  type DecodedBody,
  type NamedTarget,
  namedTarget,
  type Target,
  type WriteSettings,
  type WrittenObject,
} from './types.ts';
import { startWatch, type WatchSettings, type WatchSink } from './watch.ts';

/** Number of collection deletes that share one commit. */
const deleteSlice = 200;

/** All verbs on stored objects, shared by HTTP and in-process clients. */
export class ResourceApi {
  readonly context: ServiceContext;

  constructor(context: ServiceContext) {
    this.context = context;
  }

  get(target: NamedTarget, caller: Caller, resourceVersion?: string): Promise<StoreRecord<StoredObject>> {
    return getRecord(this.context, target, caller, resourceVersion === undefined ? {} : { resourceVersion });
  }

  list(target: Target, caller: Caller, settings: ListSettings): Promise<ListedPage> {
    return listRecords(this.context, target, caller, settings);
  }

  watch(target: Target, caller: Caller, settings: WatchSettings, sink: WatchSink): Promise<() => void> {
    return startWatch(this.context, target, caller, settings, sink);
  }

  create(target: Target, body: DecodedBody, caller: Caller, settings: WriteSettings): Promise<WrittenObject> {
    const draft = decodeObject(body, target, caller, settings.fieldValidation);
    return createObject(this.context, target, { draft, caller, settings });
  }

  update(
    target: NamedTarget,
    subresource: string | undefined,
    body: DecodedBody,
    caller: Caller,
    settings: WriteSettings,
  ): Promise<WrittenObject> {
    const draft = decodeObject(body, target, caller, settings.fieldValidation);
    return replaceObject(this.context, target, { subresource, draft, caller, settings });
  }

  patch(request: Omit<PatchRequest, 'context'>): Promise<WrittenObject> {
    return patchObject({ ...request, context: this.context });
  }

  apply(request: Omit<ApplyRequest, 'context'>): Promise<WrittenObject> {
    return applyObject({ ...request, context: this.context });
  }

  delete(target: NamedTarget, caller: Caller, settings: DeleteSettings): Promise<DeleteResult> {
    return deleteObject(this.context, target, caller, settings);
  }

  /** Deletes all objects that match the selectors and returns their last states. */
  async deleteCollection(
    target: Target,
    caller: Caller,
    selection: ListSettings,
    settings: DeleteSettings,
  ): Promise<UnstructuredObject[]> {
    const page = await listRecords(this.context, target, caller, selection);
    const deleted: UnstructuredObject[] = [];
    for (let start = 0; start < page.records.length; start += deleteSlice) {
      const slice = page.records.slice(start, start + deleteSlice);
      const results = await Promise.all(slice.map((record) => this.#deleteListed(target, record, caller, settings)));
      for (const object of results) if (object) deleted.push(object);
    }
    return deleted;
  }

  /** Returns undefined if the object was already gone. */
  async #deleteListed(
    target: Target,
    record: StoreRecord<StoredObject>,
    caller: Caller,
    settings: DeleteSettings,
  ): Promise<UnstructuredObject | undefined> {
    const namespace = target.resource.definition.namespaced ? namespaceOfKey(record.key) : undefined;
    try {
      const named = namedTarget({ ...target, namespace }, nameOfKey(record.key));
      return (await deleteObject(this.context, named, caller, settings)).object;
    } catch (error) {
      return ignoreNotFound(error);
    }
  }

  exists(target: NamedTarget): boolean {
    return this.context.store.get(objectKey(target.resource.keySpace, target.namespace, target.name)) !== undefined;
  }

  /** Finds a served kind or throws the 404 of unknown paths. */
  resolve(group: string, version: string, plural: string, namespace: string | undefined): Target {
    const served = this.context.registry.find(group, version, plural);
    if (!served) throw statusError.pathNotFound();
    const { resource, version: servedVersion, apiVersion } = served;
    return { resource, version: servedVersion, apiVersion, namespace };
  }
}
