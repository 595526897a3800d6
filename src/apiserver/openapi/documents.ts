import { createHash } from 'node:crypto';
import {
  type JsonObject,
  type ResourceDefinition,
  type Schema,
  SchemaRenderer,
  type VersionDefinition,
} from '../../machinery/index.ts';
import type { Registry } from '../registry/index.ts';
import { renderPaths } from './paths.ts';

const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

export interface OpenApiDocument {
  bytes: Buffer;
  hash: string;
}

/** OpenAPI documents, rendered on demand and cached until the registry changes. */
export class OpenApi {
  readonly #registry: Registry;
  readonly #metaSchema: (component: string) => Schema;
  readonly #version: string;
  #generation = -1;
  readonly #documents = new Map<string, OpenApiDocument>();

  /** `metaSchema` returns shared components of meta/v1 (ObjectMeta, ListMeta, Status, DeleteOptions, …) */
  constructor(registry: Registry, metaSchema: (component: string) => Schema, version: string) {
    this.#registry = registry;
    this.#metaSchema = metaSchema;
    this.#version = version;
  }

  /** `/openapi/v3`: the paths of all group version documents */
  index(): JsonObject {
    const paths: JsonObject = {};
    for (const [group, versions] of this.#registry.groups()) {
      for (const version of versions) {
        const key = group === '' ? `api/${version}` : `apis/${group}/${version}`;
        paths[key] = { serverRelativeURL: `/openapi/v3/${key}?hash=${this.#contentHash(group, version)}` };
      }
    }
    return { paths };
  }

  /** the document of one group version; undefined if it is not served */
  v3(group: string, version: string): OpenApiDocument | undefined {
    if (!this.#registry.groups().get(group)?.includes(version)) return undefined;
    return this.#cached(
      `v3 ${group}/${version}`,
      () => this.#renderV3(group, version),
      this.#contentHash(group, version),
    );
  }

  v2(): OpenApiDocument {
    return this.#cached('v2', () => this.#renderV2());
  }

  /**
   * Computes a content hash without rendering the document. Definitions are immutable, so names, versions and schema
   * identity are sufficient.
   */
  #contentHash(group: string, version: string): string {
    const hash = createHash('sha256').update(this.#version);
    for (const [definition, served] of this.#served(group, version)) {
      hash.update(`${definition.plural} ${definition.kind} ${served.hasStatus} ${schemaFingerprint(served.schema)}`);
    }
    return hash.digest('hex').toUpperCase();
  }

  #served(group: string, version: string): [ResourceDefinition, VersionDefinition][] {
    const list: [ResourceDefinition, VersionDefinition][] = [];
    for (const { definition } of this.#registry.all()) {
      const served = definition.group === group && definition.versions.find((v) => v.name === version && v.served);
      if (served) list.push([definition, served]);
    }
    return list;
  }

  #renderV3(group: string, version: string): JsonObject {
    const renderer = new SchemaRenderer('#/components/schemas/');
    const paths: JsonObject = {};
    const meta = (name: string): JsonObject => renderer.render(this.#metaSchema(metaPrefix + name));
    const shared = { status: meta('Status'), deleteOptions: meta('DeleteOptions'), patch: meta('Patch') };
    for (const [definition, served] of this.#served(group, version)) {
      const { object, list } = this.#addKind(renderer, definition, served);
      Object.assign(paths, renderPaths(definition, served, { ...shared, object, list }));
    }
    return {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: this.#version },
      paths,
      components: { schemas: renderer.components },
    };
  }

  #renderV2(): JsonObject {
    const renderer = new SchemaRenderer('#/definitions/');
    for (const [group, versions] of this.#registry.groups()) {
      for (const version of versions) {
        for (const [definition, served] of this.#served(group, version)) {
          this.#addKind(renderer, definition, served, withoutV3);
        }
      }
    }
    return {
      swagger: '2.0',
      info: { title: 'Kubernetes', version: this.#version },
      paths: {},
      definitions: renderer.components,
    };
  }

  /** Adds a kind and its list to the document; returns references to both. */
  #addKind(
    renderer: SchemaRenderer,
    definition: ResourceDefinition,
    version: VersionDefinition,
    /** transforms the schemas of custom kinds */
    publish: (schema: Schema) => Schema = (schema) => schema,
  ): { object: JsonObject; list: JsonObject } {
    const gvk = (kind: string): JsonObject => ({
      'x-kubernetes-group-version-kind': [{ group: definition.group, version: version.name, kind }],
    });
    const name = version.schema.component ?? componentName(definition, version);
    const isCustom = definition.origin === 'custom';
    renderer.add(name, isCustom ? this.#withMetadata(publish(version.schema)) : version.schema, gvk(definition.kind));
    if (!(definition.verbs as readonly string[]).includes('list'))
      return { object: renderer.ref(name), list: renderer.ref(name) };
    const listName = `${name}List`;
    renderer.add(
      listName,
      {
        description: `A list of ${definition.kind} objects.`,
        type: 'object',
        required: ['items'],
        properties: {
          apiVersion: {
            type: 'string',
            description: 'APIVersion defines the group and version this object is written in.',
          },
          kind: { type: 'string', description: 'Kind of this object.' },
          metadata: {
            allOf: [this.#metaSchema(`${metaPrefix}ListMeta`)],
            description: 'Standard list metadata: the version of the list and where it continues.',
          },
          items: { type: 'array', items: { component: name }, description: 'The objects.' },
        },
      },
      gvk(definition.listKind),
    );
    return { object: renderer.ref(name), list: renderer.ref(listName) };
  }

  /** Custom schemas have no metadata fields, so published ones refer to the shared ObjectMeta. */
  #withMetadata(schema: Schema): Schema {
    // Kinds that accept any field get no metadata reference.
    if (schema === anyObject) return schema;
    return {
      ...schema,
      properties: {
        ...schema.properties,
        apiVersion: {
          type: 'string',
          description: 'APIVersion defines the group and version this object is written in.',
        },
        kind: { type: 'string', description: 'Kind of this object.' },
        metadata: {
          allOf: [this.#metaSchema(`${metaPrefix}ObjectMeta`)],
          description: "Standard object's metadata: its name, its labels and what all objects have.",
        },
      },
    };
  }

  #cached(key: string, render: () => JsonObject, hash?: string): OpenApiDocument {
    if (this.#generation !== this.#registry.generation) {
      this.#documents.clear();
      this.#generation = this.#registry.generation;
    }
    let document = this.#documents.get(key);
    if (!document) {
      const bytes = Buffer.from(JSON.stringify(render()));
      document = { bytes, hash: hash ?? createHash('sha256').update(bytes).digest('hex').toUpperCase() };
      this.#documents.set(key, document);
    }
    return document;
  }
}

/** Schema in version 2 documents of kinds that accept any field. */
const anyObject: Schema = { type: 'object' };

/**
 * Reduces the schema of a custom kind to OpenAPI version 2. Readers treat nodes as closed and do not know nullable, so
 * nodes that allow unknown fields or null are left open, as in kube-apiserver.
 */
function withoutV3(schema: Schema): Schema {
  return schema['x-kubernetes-preserve-unknown-fields'] === true ? anyObject : openNodes(schema);
}

function openNodes(schema: Schema): Schema {
  const { nullable, ...node } = schema;
  const { properties, items, additionalProperties } = node;
  if (nullable === true || node['x-kubernetes-preserve-unknown-fields'] === true) {
    for (const key of ['type', 'properties', 'items', 'additionalProperties', 'required'] as const) delete node[key];
    return node;
  }
  return {
    ...node,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, openNodes(child)])),
    }),
    ...(items && { items: openNodes(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: openNodes(additionalProperties) }),
  };
}

/** Like Kubernetes, names components of custom kinds with the reversed group. */
function componentName(definition: ResourceDefinition, version: VersionDefinition): string {
  return [...definition.group.split('.').reverse(), version.name, definition.kind].join('.');
}

const fingerprints = new WeakMap<Schema, string>();

function schemaFingerprint(schema: Schema): string {
  if (schema.component !== undefined) return schema.component;
  let fingerprint = fingerprints.get(schema);
  if (fingerprint === undefined) {
    fingerprint = createHash('sha256').update(JSON.stringify(schema)).digest('hex');
    fingerprints.set(schema, fingerprint);
  }
  return fingerprint;
}

export function openApiKey(path: string): { group: string; version: string } | undefined {
  const match = /^\/openapi\/v3\/(?:api\/([^/]+)|apis\/([^/]+)\/([^/]+))$/.exec(path);
  if (!match) return undefined;
  return match[1] !== undefined ? { group: '', version: match[1] } : { group: match[2] ?? '', version: match[3] ?? '' };
}
