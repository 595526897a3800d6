import {
  allVerbs,
  asJson,
  clone,
  compareVersionPriority,
  compileSimplePath,
  formatApiVersion,
  type JsonValue,
  must,
  parseApiVersion,
  pruneUnknownFields,
  type ResourceDefinition,
  type ResourceStrategy,
  type Schema,
  statusError,
  type UnstructuredObject,
  type VersionDefinition,
} from '../../machinery/index.ts';
import { printerOf } from './printer.ts';
import {
  type CrdSelectableField,
  type CrdVersion,
  type CustomResourceDefinition,
  isCrdConditionTrue,
} from './types.ts';

export interface CrdDefinitionDependencies {
  /** calls the conversion webhook of a definition; without this function, such kinds cannot be converted */
  convertByWebhook?(
    crd: CustomResourceDefinition,
    object: UnstructuredObject,
    toVersion: string,
  ): Promise<UnstructuredObject>;
}

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Builds the resource definition of a CustomResourceDefinition, which must be valid. */
export function definitionFromCrd(
  crd: CustomResourceDefinition,
  dependencies: CrdDefinitionDependencies,
): ResourceDefinition {
  const { spec } = crd;
  // The accepted names are served; a definition without evaluated names uses those of the spec.
  const names = crd.status?.acceptedNames?.plural ? crd.status.acceptedNames : spec.names;
  const versions = [...spec.versions].sort((a, b) => compareVersionPriority(a.name, b.name));
  return {
    group: spec.group,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    verbs: allVerbs,
    storageVersion: must(
      spec.versions.find((version) => version.storage),
      'value',
    ).name,
    versions: versions.map((version) => versionOf(version, spec.group, names.kind, versions)),
    subresources: [],
    origin: 'custom',
    strategy: isCrdConditionTrue(crd, 'Terminating') ? refuseCreate(spec.group, names.plural) : warnOfWrites(crd),
    convert: converterOf(crd, dependencies),
  };
}

/** Warning for clients that write objects of the kind, set by the program that installs the definition. */
const writeWarningAnnotation = 'capstan.dev/write-warning';

function warnOfWrites({ metadata }: CustomResourceDefinition): ResourceStrategy {
  const warning = metadata.annotations?.[writeWarningAnnotation];
  return warning === undefined ? {} : { warnings: () => [warning] };
}

/** New objects during cleanup would block the deletion of the definition. */
function refuseCreate(group: string, plural: string): ResourceStrategy {
  return {
    prepareForCreate: ({ metadata }) => {
      const subject = { group, resource: plural, name: metadata.name ?? '' };
      throw statusError.forbidden(subject, 'create not allowed while custom resource definition is terminating');
    },
  };
}

function versionOf(
  version: CrdVersion,
  group: string,
  kind: string,
  byPriority: readonly CrdVersion[],
): VersionDefinition {
  const { subresources } = version;
  const scale = subresources?.scale;
  const fields = selectableFieldsOf(version.selectableFields);
  return {
    name: version.name,
    served: version.served,
    ...(version.deprecated
      ? {
          deprecated: true,
          deprecationWarning: version.deprecationWarning ?? deprecationWarning(version, group, kind, byPriority),
        }
      : {}),
    schema: version.schema?.openAPIV3Schema ?? anything,
    hasStatus: subresources?.status !== undefined && subresources.status !== null,
    ...(scale
      ? {
          scale: {
            specReplicasPath: scale.specReplicasPath,
            statusReplicasPath: scale.statusReplicasPath,
            ...(scale.labelSelectorPath ? { labelSelectorPath: scale.labelSelectorPath } : {}),
          },
        }
      : {}),
    printer: printerOf(version.additionalPrinterColumns),
    ...(fields ? { selectableFields: fields } : {}),
  };
}

/** Builds the deprecation warning, which recommends the best newer version, if any. */
function deprecationWarning(
  version: CrdVersion,
  group: string,
  kind: string,
  byPriority: readonly CrdVersion[],
): string {
  const better = byPriority.slice(0, byPriority.indexOf(version)).find((other) => other.served && !other.deprecated);
  const advice = better ? `; use ${formatApiVersion(group, better.name)} ${kind}` : '';
  return `${formatApiVersion(group, version.name)} ${kind} is deprecated${advice}`;
}

function selectableFieldsOf(
  fields: readonly CrdSelectableField[] | undefined,
): Record<string, (object: UnstructuredObject) => string> | undefined {
  if (!fields || fields.length === 0) return undefined;
  const selectable: Record<string, (object: UnstructuredObject) => string> = {};
  for (const { jsonPath } of fields) {
    const path = compileSimplePath(jsonPath);
    selectable[path.fields.join('.')] = (object) => fieldText(path.get(object));
  }
  return selectable;
}

function fieldText(value: JsonValue | undefined): string {
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
}

function converterOf(
  crd: CustomResourceDefinition,
  dependencies: CrdDefinitionDependencies,
): NonNullable<ResourceDefinition['convert']> {
  const { group, conversion, versions } = crd.spec;
  // Removes fields that the target version lacks, for every conversion strategy.
  const cut = (draft: UnstructuredObject, toVersion: string): UnstructuredObject => {
    const schema = versions.find((version) => version.name === toVersion)?.schema?.openAPIV3Schema;
    if (schema) pruneUnknownFields(asJson(draft), schema);
    return draft;
  };
  if (conversion?.strategy !== 'Webhook') {
    return (object, toVersion) => cut({ ...clone(object), apiVersion: formatApiVersion(group, toVersion) }, toVersion);
  }
  return async (object, toVersion) => {
    if (parseApiVersion(object.apiVersion).version === toVersion) return object;
    if (!dependencies.convertByWebhook) {
      throw new Error(`conversion webhook for ${formatApiVersion(group, crd.spec.names.kind)} cannot be called`);
    }
    // A webhook may return the object it received, so it gets a clone of the shared object.
    return cut(await dependencies.convertByWebhook(crd, clone(object), toVersion), toVersion);
  };
}
