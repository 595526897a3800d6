import {
  allVerbs,
  asTyped,
  type FieldError,
  fieldError,
  type JsonValue,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  type ResourceStrategy,
  type ScalePaths,
  type StrategyContext,
  type SubresourceDefinition,
  type TableColumn,
  type Verb,
} from '../../machinery/index.ts';
import { builtinSchema } from '../schema/index.ts';

/** Definition of a built-in kind; the remaining properties follow from conventions. */
export interface BuiltinKind<T extends KubeObject> extends ResourceStrategy<T> {
  group: string;
  version: string;
  kind: string;
  plural: string;
  /** default: the kind in lower case */
  singular?: string;
  shortNames?: readonly string[];
  categories?: readonly string[];
  namespaced: boolean;
  /** default: all verbs */
  verbs?: readonly Verb[];
  /** name of the published OpenAPI component */
  component: string;
  hasStatus?: boolean;
  scale?: ScalePaths;
  subresources?: readonly SubresourceDefinition[];
  columns: readonly TableColumn[];
  row(object: T, nowMs: number): JsonValue[];
  selectableFields?: Readonly<Record<string, (object: T) => string>>;
  noGeneration?: boolean;
  allowCreateOnUpdate?: boolean;
  conditionalUpdatesOnly?: boolean;
  storedAs?: ResourceDefinition['storedAs'];
  ttlMs?: number;
  /** warning of every response, for deprecated kinds */
  deprecationWarning?: string;
}

/**
 * Builds the definition that the API server uses. The schema is a getter, so that startup does not expand the schemas
 * of all kinds.
 */
export function defineBuiltin<T extends KubeObject>(kind: BuiltinKind<T>): ResourceDefinition {
  const { component } = kind;
  return {
    group: kind.group,
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.plural,
    singular: kind.singular ?? kind.kind.toLowerCase(),
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    namespaced: kind.namespaced,
    verbs: kind.verbs ?? allVerbs,
    storageVersion: kind.version,
    versions: [
      {
        name: kind.version,
        served: true,
        get schema() {
          return builtinSchema(component);
        },
        hasStatus: kind.hasStatus ?? false,
        ...(kind.deprecationWarning !== undefined && {
          deprecated: true,
          deprecationWarning: kind.deprecationWarning,
        }),
        ...(kind.scale && { scale: kind.scale }),
        printer: { columns: kind.columns, row: (object, nowMs) => kind.row(asTyped<T>(object), nowMs) },
        ...(kind.selectableFields && {
          selectableFields: Object.fromEntries(
            Object.entries(kind.selectableFields).map(([path, read]) => [path, (object) => read(asTyped<T>(object))]),
          ),
        }),
      },
    ],
    subresources: kind.subresources ?? [],
    origin: 'builtin',
    strategy: strategyOf(kind),
    ...(kind.noGeneration && { noGeneration: true }),
    ...(kind.allowCreateOnUpdate && { allowCreateOnUpdate: true }),
    ...(kind.conditionalUpdatesOnly && { conditionalUpdatesOnly: true }),
    ...(kind.storedAs && { storedAs: kind.storedAs }),
    ...(kind.ttlMs !== undefined && { ttlMs: kind.ttlMs }),
  };
}

const strategyNames = [
  'applyDefaults',
  'prepareForCreate',
  'prepareForUpdate',
  'prepareForStatusUpdate',
  'validateCreate',
  'validateUpdate',
  'validateStatusUpdate',
  'warnings',
  'validateName',
  'gracePeriodSeconds',
] as const;

/** The cast is sound because objects pass the schema of their kind before they reach a strategy. */
function strategyOf<T extends KubeObject>(kind: BuiltinKind<T>): ResourceStrategy {
  const strategy: Record<string, unknown> = {};
  for (const name of strategyNames) if (kind[name] !== undefined) strategy[name] = kind[name];
  strategy['validateCreate'] = (object: T, context: StrategyContext): FieldError[] => [
    ...validateFinalizerNames(object),
    ...(kind.validateCreate?.(object, context) ?? []),
  ];
  strategy['validateUpdate'] = (object: T, old: T, context: StrategyContext): FieldError[] => [
    ...validateFinalizerNames(object),
    ...(kind.validateUpdate?.(object, old, context) ?? []),
  ];
  return strategy as ResourceStrategy;
}

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Finalizers of built-in kinds must have a domain, unless they are Kubernetes' own. */
function validateFinalizerNames(object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, finalizer] of (object.metadata?.finalizers ?? []).entries()) {
    if (!finalizer.includes('/') && !standardFinalizers.has(finalizer)) {
      const text = 'name is neither a standard finalizer name nor is it fully qualified';
      errors.push(fieldError.invalid(`metadata.finalizers[${index}]`, finalizer, text));
    }
  }
  return errors;
}

/** Returns the handle that clients use for a kind. */
export function resourceOf<T extends KubeObject>(definition: ResourceDefinition): Resource<T> {
  return {
    group: definition.group,
    version: definition.storageVersion,
    kind: definition.kind,
    plural: definition.plural,
    namespaced: definition.namespaced,
  };
}

/** Scale paths that all built-in workloads share. */
export const workloadScale: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};
