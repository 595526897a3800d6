import {
  applySchemaDefaults,
  asJson,
  clone,
  formatApiVersion,
  type LargeIntegers,
  parseApiVersion,
  type ResourceDefinition,
  type Schema,
  type UnstructuredObject,
  type VersionDefinition,
  type VersionedKind,
} from '../../machinery/index.ts';
import type { StoreRecord } from '../../store/index.ts';
import type { KeySpace } from '../storage/keys.ts';
import { StoredObject } from '../storage/stored-object.ts';

export type MaybePromise<T> = T | Promise<T>;

/** A served kind: its definition and data derived from it. */
export class RegisteredResource {
  readonly definition: ResourceDefinition;
  /** storage location of its objects; for a view, of the kind it shows */
  readonly keySpace: KeySpace;
  readonly storageVersion: VersionDefinition;
  readonly storageApiVersion: string;
  /**
   * revision of the CustomResourceDefinition of this kind, 0 for built-in kinds. Older objects may lack defaults that
   * the schema has gained since.
   */
  readonly schemaRevision: number;
  readonly #hasDefaults: boolean;
  readonly #hasStatusDefault: boolean;
  /** stored objects may lack defaults */
  readonly #hasSchemaDefaults: boolean;
  /** kind as seen by field ownership */
  readonly versionedKind: VersionedKind;

  constructor(definition: ResourceDefinition, schemaRevision = 0) {
    this.definition = definition;
    this.schemaRevision = schemaRevision;
    this.keySpace = definition.storedAs ?? { group: definition.group, plural: definition.plural };
    const storage = definition.versions.find((version) => version.name === definition.storageVersion);
    if (!storage) throw new Error(`${definition.kind}: storage version ${definition.storageVersion} is not defined`);
    this.storageVersion = storage;
    this.storageApiVersion = formatApiVersion(definition.group, storage.name);
    this.versionedKind = {
      origin: definition.origin,
      schema: (apiVersion) => {
        const { group, version } = parseApiVersion(apiVersion);
        return group === definition.group ? this.version(version)?.schema : undefined;
      },
      convert: (object, apiVersion) => this.convert(object, parseApiVersion(apiVersion).version),
    };
    this.#hasDefaults = definition.origin === 'custom' && hasDefault(storage.schema, new Set());
    this.#hasStatusDefault = this.#hasDefaults && storage.schema.properties?.['status']?.default !== undefined;
    this.#hasSchemaDefaults = schemaRevision > 0 && this.#hasDefaults;
  }

  get isCustom(): boolean {
    return this.definition.origin === 'custom';
  }

  /** Custom kinds keep every int64. Fields of our own kinds must be numbers, because the program computes with them. */
  get largeIntegers(): LargeIntegers {
    return this.isCustom && this.definition.crd === undefined ? 'keep' : 'refuse';
  }

  version(name: string): VersionDefinition | undefined {
    return this.definition.versions.find((version) => version.name === name);
  }

  /** Tells whether the stored bytes are exactly the object in its storage version. */
  isDirect(record: StoreRecord<StoredObject>): boolean {
    return (
      this.definition.storedAs === undefined &&
      record.value.apiVersion === this.storageApiVersion &&
      !(this.#hasSchemaDefaults && record.revision < this.schemaRevision)
    );
  }

  /** Returns the stored object in the storage version; shared, must not be changed. */
  fromRecord(record: StoreRecord<StoredObject>): MaybePromise<UnstructuredObject> {
    if (this.isDirect(record)) return record.value.object;
    if (this.definition.storedAs) return this.definition.storedAs.fromStorage(record.value.object);
    const converted = this.convert(record.value.object, this.storageVersion.name);
    return converted instanceof Promise
      ? converted.then((object) => this.#fillDefaults(object))
      : this.#fillDefaults(converted);
  }

  #fillDefaults(object: UnstructuredObject): UnstructuredObject {
    if (!this.#hasSchemaDefaults) return object;
    const draft = clone(object);
    applySchemaDefaults(asJson(draft), this.storageVersion.schema);
    return draft;
  }

  /**
   * Applies the defaults that kube-apiserver applies when it reads a custom object: those of the storage version if the
   * object was written in another one, and those of status, which writers of the main resource cannot set.
   */
  fillStorageDefaults(draft: UnstructuredObject, written: VersionDefinition): void {
    const incomplete = written === this.storageVersion ? this.#hasStatusDefault && draft.status === undefined : true;
    if (!incomplete || !this.#hasDefaults) return;
    applySchemaDefaults(asJson(draft), this.storageVersion.schema);
  }

  /** Builds the stored form of an object in the storage version. Takes ownership of `object`. */
  toStored(object: UnstructuredObject, nowMs: number, maxBytes?: number): StoredObject {
    const { storedAs, ttlMs } = this.definition;
    return StoredObject.fromObject(
      storedAs ? storedAs.toStorage(object) : object,
      ttlMs === undefined ? undefined : nowMs + ttlMs,
      maxBytes,
    );
  }

  /** Converts between versions of this kind; returns the same object if the version matches. */
  convert(object: UnstructuredObject, toVersion: string): MaybePromise<UnstructuredObject> {
    if (parseApiVersion(object.apiVersion).version === toVersion) return object;
    if (!this.definition.convert) {
      return { ...object, apiVersion: formatApiVersion(this.definition.group, toVersion) };
    }
    return this.definition.convert(object, toVersion);
  }
}

function hasDefault(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if (schema.default !== undefined) return true;
  if (Object.values(schema.properties ?? {}).some((property) => hasDefault(property, seen))) return true;
  if (schema.items && hasDefault(schema.items, seen)) return true;
  return typeof schema.additionalProperties === 'object' && hasDefault(schema.additionalProperties, seen);
}
