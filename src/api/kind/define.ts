import {
  allVerbs,
  applySchemaDefaults,
  asJson,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  must,
  type Resource,
  type ResourceDefinition,
  type ResourceStrategy,
  type ScalePaths,
  type Schema,
  type TablePrinter,
  type UnstructuredObject,
  type VersionDefinition,
} from '../../machinery/index.ts';
import { createConverter } from './conversion.ts';
import type { Mapping } from './mapping.ts';
import { type PrinterColumn, printerFromColumns } from './printer.ts';
import { type Field, once } from './schema.ts';

interface VersionSource {
  name: string;
  /** served with a warning, for existing manifests */
  deprecated?: boolean;
  columns?: readonly PrinterColumn[];
  /** default true */
  hasStatus?: boolean;
  scale?: ScalePaths;
  /** the object requires a spec */
  specRequired?: boolean;
  /** listed as required in the published schema; the API server never stores an object without metadata anyway */
  metadataRequired?: boolean;
}

interface SchemaSource extends VersionSource {
  spec?(): { readonly schema: Schema };
  status?(): { readonly schema: Schema };
  /** fields beside metadata, for a kind with neither spec nor status */
  topLevel?(): { readonly schema: Schema };
}

/** The version for storage and reconciliation. Its fields are checked against the TypeScript type. */
export interface HubVersionSource<T extends { spec: unknown; status?: unknown }> extends VersionSource {
  spec(): Field<T['spec'], boolean>;
  status?(): Field<NonNullable<T['status']>, boolean>;
}

/** A version that is converted on read and write. */
export interface OldVersionSource extends VersionSource {
  spec(): { readonly schema: Schema };
  status?(): { readonly schema: Schema };
  /** mapping of the object without apiVersion, kind and metadata */
  mapping: Mapping;
}

interface KindNames {
  group: string;
  kind: string;
  plural: string;
  shortNames?: readonly string[];
  /** default `cluster-api`, so that `kubectl get cluster-api` lists everything */
  categories?: readonly string[];
  namespaced?: boolean;
  description: string;
  /** labels of the CustomResourceDefinition */
  labels?: Readonly<Record<string, string>>;
}

export interface KindSource<T extends KubeObject & { spec: unknown; status?: unknown }> extends KindNames {
  strategy?: ResourceStrategy<T>;
  hub: HubVersionSource<T>;
  old?: readonly OldVersionSource[];
}

/** A kind with neither spec nor status and with a single version. */
export interface FlatKindSource<T extends KubeObject> extends KindNames {
  strategy?: ResourceStrategy<T>;
  hub: VersionSource & { topLevel(): Field<Omit<T, keyof KubeObject>> };
}

interface AnyKindSource<T extends KubeObject> extends KindNames {
  strategy?: ResourceStrategy<T>;
  hub: SchemaSource;
  old?: readonly (SchemaSource & { mapping: Mapping })[];
}

export interface Kind<T extends KubeObject> {
  definition: ResourceDefinition;
  /** the hub version, for typed clients */
  resource: Resource<T>;
}

/** Builds the definition of a kind from its source. Schemas are built on first use. */
export function defineKind<T extends KubeObject & { spec: unknown; status?: unknown }>(source: KindSource<T>): Kind<T> {
  return kindFrom<T>(source);
}

/** Like defineKind, for a kind whose fields stand beside its metadata. */
export function defineFlatKind<T extends KubeObject>(source: FlatKindSource<T>): Kind<T> {
  return kindFrom<T>(source);
}

function kindFrom<T extends KubeObject>(source: AnyKindSource<T>): Kind<T> {
  const { group, kind, plural, hub } = source;
  const namespaced = source.namespaced ?? true;
  const singular = kind.toLowerCase();
  const old = source.old ?? [];
  const hubVersion = versionDefinition(source, hub);
  const versions = [hubVersion, ...old.map((version) => versionDefinition(source, version))];
  const byName = new Map(
    versions.map((version, i) => [
      version.name,
      {
        name: version.name,
        get schema() {
          return version.schema;
        },
        ...(i === 0 ? {} : { mapping: must(old[i - 1], version.name).mapping }),
      },
    ]),
  );
  const converter = createConverter({ group, kind, hub: hub.name, version: (name) => byName.get(name) });
  const crd = once(() => customResourceDefinition(source, versions));
  const strategy = withSchemaDefaults(source.strategy ?? {}, hubVersion);
  const schemaSaysAll = source.strategy === undefined && old.length === 0 && strategy.warnings === undefined;
  return {
    definition: {
      group,
      kind,
      listKind: `${kind}List`,
      plural,
      singular,
      shortNames: source.shortNames ?? [],
      categories: source.categories ?? ['cluster-api'],
      namespaced,
      verbs: allVerbs,
      storageVersion: hub.name,
      versions,
      subresources: [],
      origin: 'custom',
      strategy,
      ...(schemaSaysAll && { schemaSaysAll }),
      convert: (object: UnstructuredObject, toVersion: string) => converter(object, toVersion),
      get crd() {
        return crd();
      },
    },
    resource: { group, version: hub.name, kind, plural, namespaced },
  };
}

/**
 * An object written in an old version has only the schema defaults of that version. The strategy expects the hub
 * version, so the defaults of the hub schema are applied first.
 */
function withSchemaDefaults<T extends KubeObject>(
  strategy: ResourceStrategy<T>,
  hub: VersionDefinition,
): ResourceStrategy {
  const typed = {
    ...strategy,
    applyDefaults(draft: T): void {
      applySchemaDefaults(asJson(draft), hub.schema);
      strategy.applyDefaults?.(draft);
    },
  };
  // The cast is sound because objects pass the schema of their kind before they reach a strategy.
  return typed as ResourceStrategy<KubeObject>;
}

/** Builds the warning that kube-apiserver sends for deprecated versions. */
function deprecationWarning(
  { group, kind, hub }: { group: string; kind: string; hub: { name: string } },
  version: string,
): string {
  return `${group}/${version} ${kind} is deprecated; use ${group}/${hub.name} ${kind}`;
}

function versionDefinition(
  source: { description: string; group: string; kind: string; hub: { name: string } },
  version: SchemaSource,
): VersionDefinition {
  const schema = once(() => objectSchema(source.description, version));
  const printer = once((): TablePrinter => printerFromColumns(version.columns ?? []));
  return {
    name: version.name,
    served: true,
    ...(version.deprecated === true
      ? { deprecated: true, deprecationWarning: deprecationWarning(source, version.name) }
      : {}),
    ...(version.scale === undefined ? {} : { scale: version.scale }),
    hasStatus: version.hasStatus ?? true,
    get schema() {
      return schema();
    },
    get printer() {
      return printer();
    },
  };
}

function objectSchema(description: string, version: SchemaSource): Schema {
  const properties: Record<string, Schema> = {
    apiVersion: { type: 'string', description: 'Group and version of this representation of the object.' },
    kind: { type: 'string', description: 'Kind of the object, in CamelCase.' },
    metadata: { type: 'object' },
    ...version.topLevel?.().schema.properties,
  };
  if (version.spec !== undefined) properties['spec'] = version.spec().schema;
  if (version.status !== undefined) properties['status'] = version.status().schema;
  const required = [
    ...(version.metadataRequired === true ? ['metadata'] : []),
    ...(version.specRequired === true ? ['spec'] : []),
  ];
  return { type: 'object', description, properties, ...(required.length === 0 ? {} : { required }) };
}

function customResourceDefinition(
  source: Omit<AnyKindSource<KubeObject>, 'strategy'>,
  versions: readonly VersionDefinition[],
): JsonObject & KubeObject {
  const columns = new Map([source.hub, ...(source.old ?? [])].map((version) => [version.name, version.columns ?? []]));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${source.plural}.${source.group}`, labels: { ...source.labels } },
    spec: {
      group: source.group,
      names: {
        kind: source.kind,
        listKind: `${source.kind}List`,
        plural: source.plural,
        singular: source.kind.toLowerCase(),
        ...(source.shortNames === undefined ? {} : { shortNames: [...source.shortNames] }),
        categories: [...(source.categories ?? ['cluster-api'])],
      },
      scope: (source.namespaced ?? true) ? 'Namespaced' : 'Cluster',
      versions: versions.map((version) =>
        crdVersion(version, must(columns.get(version.name), 'columns.get(version.name)'), source.hub.name),
      ),
    },
  };
}

function crdVersion(version: VersionDefinition, columns: readonly PrinterColumn[], storage: string): JsonObject {
  const subresources: JsonObject = {};
  if (version.hasStatus) subresources['status'] = {};
  if (version.scale !== undefined) subresources['scale'] = { ...version.scale };
  return {
    name: version.name,
    served: version.served,
    storage: version.name === storage,
    ...(version.deprecated === true ? { deprecated: true } : {}),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns.map((column) => ({ ...column })) }),
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    schema: { openAPIV3Schema: version.schema as JsonValue },
  };
}
