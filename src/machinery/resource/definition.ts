import type { FieldError } from '../errors/field-error.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import type { KubeObject, UnstructuredObject } from '../meta/types.ts';
import type { Schema } from '../schema/types.ts';
import type { Random } from '../time/random.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

export interface TableColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  description?: string;
  /** 0 shows always, greater only with -o wide */
  priority?: number;
}

/** Turns an object into a row of `kubectl get`. The first column is Name. */
export interface TablePrinter {
  columns: readonly TableColumn[];
  row(object: UnstructuredObject, nowMs: number): JsonValue[];
}

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

/** What strategies may know of the world. */
export interface StrategyContext {
  nowMs: number;
  random: Random;
  /** name of the requesting user */
  user: string;
  /** nothing will be stored */
  dryRun?: boolean;
  /** the door the write came through, undefined for the main one */
  subresource?: string;
  /** the field manager, where the write is a JSON, merge or strategic merge patch */
  patchedBy?: string;
  /** the object as such a patch left it, before anybody filled in what it leaves out; for kinds with `validateWritten` */
  written?: UnstructuredObject;
  /** what else is known of the requesting user; CertificateSigningRequests record it */
  userUid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * The behaviour of a kind that a schema cannot say. All functions see the storage (hub) version. `draft` objects are
 * private copies and may be changed; all other objects are shared and must not be.
 */
export interface ResourceStrategy<T extends KubeObject = UnstructuredObject> {
  /** defaults that depend on other fields; runs after schema defaulting, on every write and on decode of old objects */
  applyDefaults?(draft: T): void;
  /** fields only the server may set, reset or fill on create */
  prepareForCreate?(draft: T, context: StrategyContext): void;
  /** fields only the server may set, carried over from `old`; not called for the status subresource */
  prepareForUpdate?(draft: T, old: T, context: StrategyContext): void;
  /** the same for writes to the status subresource (and its kin, such as approval) */
  prepareForStatusUpdate?(draft: T, old: T, context: StrategyContext): void;
  /** what is wrong with an update as it was written (`context.written`); webhooks that give defaults ask it, others are part of `validateUpdate` */
  validateWritten?(object: T, old: T, context: StrategyContext): FieldError[];
  validateCreate?(object: T, context: StrategyContext): FieldError[];
  validateUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
  validateStatusUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
  /** texts for `Warning: 299` headers */
  warnings?(object: T, old?: T): string[];
  /** returns what is wrong with a metadata.name, empty when fine; default is a DNS-1123 subdomain */
  validateName?(name: string): string[];
  /** finalizers the server itself adds when deletion begins, to clean up after the object */
  deletionFinalizers?(object: T): string[];
  /** seconds a delete waits unless the caller says otherwise; undefined means the kind has no graceful deletion */
  gracePeriodSeconds?(object: T): number | undefined;
}

export interface SubresourceDefinition {
  /** e.g. `log`, `token`, `eviction` */
  name: string;
  verbs: readonly Verb[];
  group: string;
  version: string;
  kind: string;
}

export interface VersionDefinition {
  name: string;
  served: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  /** schema of the whole object, apiVersion/kind/metadata included loosely (metadata is handled by the server) */
  schema: Schema;
  /** has a status subresource: main writes ignore status, status writes ignore the rest */
  hasStatus: boolean;
  scale?: ScalePaths;
  printer: TablePrinter;
  /** field selectors beyond metadata.name and metadata.namespace: label -> value of the object, '' when absent */
  selectableFields?: Readonly<Record<string, (object: UnstructuredObject) => string>>;
}

/**
 * One served kind, wherever it comes from: built in, our own, or a CustomResourceDefinition. The API server knows
 * kinds only through this.
 */
export interface ResourceDefinition {
  group: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  verbs: readonly Verb[];
  storageVersion: string;
  /** in order of preference */
  versions: readonly VersionDefinition[];
  /** subresources other than status and scale */
  subresources: readonly SubresourceDefinition[];
  /** `builtin` kinds accept strategic merge patch, protobuf and unconditional updates; `custom` ones do not */
  origin: 'builtin' | 'custom';
  strategy: ResourceStrategy;
  /**
   * Converts between versions. Called with different versions only. Custom kinds may be converted by a webhook, hence
   * the promise. Must not change its input.
   */
  convert?(object: UnstructuredObject, toVersion: string): UnstructuredObject | Promise<UnstructuredObject>;
  /** nothing about the kind goes beyond the schema of its only version: no defaults, rules or warnings of its own */
  schemaSaysAll?: boolean;
  /** the CustomResourceDefinition object this kind is published as, for our own kinds */
  crd?: JsonObject & KubeObject;
  /**
   * Another kind's storage that this kind is a view of: events.k8s.io and core events are one store. Both functions are
   * pure and must not change their input.
   */
  storedAs?: {
    group: string;
    plural: string;
    toStorage(object: UnstructuredObject): UnstructuredObject;
    fromStorage(object: UnstructuredObject): UnstructuredObject;
  };
  /** stored objects disappear this long after their last write (events) */
  ttlMs?: number;
  /** spec changes do not count generations (ConfigMap, Secret, …) */
  noGeneration?: boolean;
  /** PUT on an absent object creates it (Lease, Event, … as upstream) */
  allowCreateOnUpdate?: boolean;
  /** PUT must name the resourceVersion it starts from; custom kinds always demand it, built-in ones only where set */
  conditionalUpdatesOnly?: boolean;
}
