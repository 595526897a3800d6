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
  /** 0 always shows the column, greater values only with -o wide */
  priority?: number;
}

/** Converts an object to a row of `kubectl get`. The first column is Name. */
export interface TablePrinter {
  columns: readonly TableColumn[];
  row(object: UnstructuredObject, nowMs: number): JsonValue[];
}

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

/** Request data for strategies. */
export interface StrategyContext {
  nowMs: number;
  random: Random;
  /** name of the requesting user */
  user: string;
  /** nothing will be stored */
  dryRun?: boolean;
  /** subresource of the write; undefined for the main resource */
  subresource?: string;
  /** field manager, if the write is a JSON, merge or strategic merge patch */
  patchedBy?: string;
  /** for kinds with `validateWritten`: the object as the patch left it, before defaults were set */
  written?: UnstructuredObject;
  /** further data of the requesting user, which CertificateSigningRequests record */
  userUid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Behaviour of a kind beyond its schema. All functions receive the storage (hub) version. `draft` objects are private
 * copies and may be modified; all other objects are shared and must not be.
 */
export interface ResourceStrategy<T extends KubeObject = UnstructuredObject> {
  /**
   * sets defaults that depend on other fields; runs after schema defaulting, on every write and when old objects are
   * decoded
   */
  applyDefaults?(draft: T): void;
  /** sets or resets server-managed fields on create */
  prepareForCreate?(draft: T, context: StrategyContext): void;
  /**
   * removes fields from a server-side apply (in the version of the request) that do not claim a value, because they
   * only ask another manager to fill them in; `live` is the stored object
   */
  prepareForApply?(applied: UnstructuredObject, live: T): void;
  /** carries over server-managed fields from `old`; not called for the status subresource */
  prepareForUpdate?(draft: T, old: T, context: StrategyContext): void;
  /** does the same for writes to the status subresource and similar ones, such as approval */
  prepareForStatusUpdate?(draft: T, old: T, context: StrategyContext): void;
  /**
   * validates an update before defaults are set (`context.written`). Webhooks that set defaults call it; elsewhere it
   * is part of `validateUpdate`
   */
  validateWritten?(object: T, old: T, context: StrategyContext): FieldError[];
  validateCreate?(object: T, context: StrategyContext): FieldError[];
  validateUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
  validateStatusUpdate?(object: T, old: T, context: StrategyContext): FieldError[];
  /** returns texts for `Warning: 299` headers */
  warnings?(object: T, old?: T): string[];
  /** returns the errors of a metadata.name, empty if valid; default: a DNS-1123 subdomain */
  validateName?(name: string): string[];
  /** finalizers the server adds when deletion begins, to clean up after the object */
  deletionFinalizers?(object: T): string[];
  /** default grace period in seconds; undefined if the kind has no graceful deletion */
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
  /**
   * schema of the whole object; apiVersion, kind and metadata are only loosely described, because the server handles
   * them
   */
  schema: Schema;
  /** has a status subresource: main writes ignore status, status writes ignore everything else */
  hasStatus: boolean;
  scale?: ScalePaths;
  printer: TablePrinter;
  /** field selectors beyond metadata.name and metadata.namespace: label -> value in the object, '' when absent */
  selectableFields?: Readonly<Record<string, (object: UnstructuredObject) => string>>;
}

/**
 * One served kind: built in, our own, or from a CustomResourceDefinition. The API server knows kinds only through this.
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
   * Converts between different versions. Returns a promise when a webhook converts a custom kind. Must not modify its
   * input.
   */
  convert?(object: UnstructuredObject, toVersion: string): UnstructuredObject | Promise<UnstructuredObject>;
  /** the kind has a single version and no defaults, rules or warnings beyond its schema */
  schemaSaysAll?: boolean;
  /** the CustomResourceDefinition that publishes one of our own kinds */
  crd?: JsonObject & KubeObject;
  /**
   * Storage of another kind that this kind is a view of: events.k8s.io and core events share one store. Both functions
   * are pure and must not modify their input.
   */
  storedAs?: {
    group: string;
    plural: string;
    toStorage(object: UnstructuredObject): UnstructuredObject;
    fromStorage(object: UnstructuredObject): UnstructuredObject;
  };
  /** time to live of stored objects after their last write (events) */
  ttlMs?: number;
  /** spec changes do not increment the generation (ConfigMap, Secret and others) */
  noGeneration?: boolean;
  /** PUT on an absent object creates it (Lease, Event and others, as upstream) */
  allowCreateOnUpdate?: boolean;
  /** PUT requires a resourceVersion; always required for custom kinds, for built-in ones only if set */
  conditionalUpdatesOnly?: boolean;
}
