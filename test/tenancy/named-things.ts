import { ownDefinitions } from '../../src/api/index.ts';
import type { JsonObject, ResourceDefinition } from '../../src/machinery/index.ts';

/** Kinds of references outside of the object. */
export type Named = 'namespace' | 'secret' | 'configMap' | 'file' | 'url' | 'image';

/** A field with a reference, found from the schema. */
export interface NamedThing {
  readonly kind: string;
  readonly group: string;
  /** newest version with the field */
  readonly version: string;
  /** property names; `[]` stands for any item, `*` for any key */
  readonly path: readonly string[];
  readonly what: Named;
}

/** The used part of a structural schema. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minLength?: number;
  readonly minItems?: number;
}

const patterns: readonly (readonly [Named, RegExp])[] = [
  ['namespace', /namespace$/i],
  ['secret', /(secret(name|ref\.name|reference\.name|keyref\.name|\.name)?|(identity|credentials)ref\.name)$/i],
  ['configMap', /configmap(name|ref\.name|keyref\.name|\.name)?$/i],
  ['file', /(path|file|directory)$/i],
  ['url', /(url|uri|server|endpoints?|host|hostname|externaladdress)$/i],
  ['image', /(image|image\.(name|reference|repository|registry)|imagerepository|registry)$/i],
];

/** Pod templates occur in many kinds and are large. Their reference fields are known. */
const embedded: readonly { readonly marks: readonly string[]; readonly leaves: readonly string[] }[] = [
  {
    marks: ['awsElasticBlockStore', 'hostPath', 'projected'],
    leaves: ['hostPath.path', 'secret.secretName', 'configMap.name', 'nfs.server', 'csi.nodePublishSecretRef.name'],
  },
  {
    marks: ['livenessProbe', 'terminationMessagePath', 'volumeMounts'],
    leaves: [
      'image',
      'env.[].valueFrom.secretKeyRef.name',
      'envFrom.[].configMapRef.name',
      'volumeMounts.[].mountPath',
    ],
  },
];

export const schemaOf = (definition: ResourceDefinition, version: string): Schema | undefined =>
  versionsOf(definition).find(({ name }) => name === version)?.schema.openAPIV3Schema;

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: Schema };
}

/** Served versions, the storage version first. Others are searched for fields it lacks. */
function versionsOf({ crd }: ResourceDefinition): readonly CrdVersion[] {
  const versions = (crd?.['spec'] as JsonObject | undefined)?.['versions'] as unknown as
    | readonly CrdVersion[]
    | undefined;
  return (versions ?? []).filter(({ served }) => served).sort((a, b) => Number(b.storage) - Number(a.storage));
}

function whatIsNamed(path: readonly string[]): Named | undefined {
  const names = path.filter((part) => part !== '[]' && part !== '*');
  const end = names.slice(-2).join('.');
  return patterns.find(([, pattern]) => pattern.test(end))?.[0];
}

function isText({ type, items, properties }: Schema): boolean {
  return type === 'string' || (type === 'array' && items?.type === 'string' && !properties);
}

function* leaves(schema: Schema, path: readonly string[]): Generator<readonly string[]> {
  const part = embedded.find(({ marks }) => marks.every((mark) => schema.properties?.[mark]));
  if (part) {
    for (const leaf of part.leaves) yield [...path, ...leaf.split('.')];
    return;
  }
  if (isText(schema)) yield path;
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* leaves(property, [...path, name]);
  if (schema.items && !isText(schema)) yield* leaves(schema.items, [...path, '[]']);
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') yield* leaves(additionalProperties, [...path, '*']);
}

/**
 * Finds every field of a kind, in any served version, that refers to a Secret, ConfigMap, file, URL, namespace or
 * image.
 */
export function namedThingsOf(definition: ResourceDefinition): NamedThing[] {
  const found = new Map<string, NamedThing>();
  for (const { name, schema } of versionsOf(definition)) {
    const spec = schema.openAPIV3Schema.properties?.['spec'];
    for (const path of spec ? leaves(spec, ['spec']) : []) {
      const what = whatIsNamed(path);
      const key = path.join('.');
      if (!what || found.has(key)) continue;
      found.set(key, { kind: definition.kind, group: definition.group, version: name, path, what });
    }
  }
  return [...found.values()];
}

/** Kinds that tenants write. Cluster-scoped ones are written by administrators. */
export const tenantDefinitions: readonly ResourceDefinition[] = ownDefinitions.filter(({ namespaced }) => namespaced);
