/** Kinds of the load: a built-in one, and one with a CustomResourceDefinition that works on any server. */
export interface LoadKind {
  plural: string;
  /** path of the collection in a namespace */
  collection(namespace: string): string;
  /** an object of about `bytes` of JSON */
  object(options: { metadata: object; revision: number; bytes: number }): object;
}

export interface BodyFields {
  name: string;
  /** differs between updates, so that each one changes the object */
  revision: number;
  /** resourceVersion of the object to update */
  resourceVersion?: string;
}

export type BodyMaker = (fields: BodyFields) => Buffer;

/** Annotation with the creation time of a body, in milliseconds of this process's clock. */
export const sentMark: Buffer = Buffer.from('"bench.capstan.dev/sent":"');

const hole = { name: '@name@', revision: 918_273_645, resourceVersion: '@version@', sent: '@sent@' };
const holes = new RegExp(`(${Object.values(hole).join('|')})`);

/**
 * Returns a function that assembles bodies from two prepared texts, so that it costs the load generator almost nothing.
 */
export function bodyMaker(kind: LoadKind, namespace: string, bytes: number): BodyMaker {
  const pieces = (isUpdate: boolean): string[] => {
    const metadata = {
      name: hole.name,
      namespace,
      labels: { 'app.kubernetes.io/name': 'bench', 'app.kubernetes.io/part-of': 'capstan' },
      annotations: { 'bench.capstan.dev/sent': hole.sent },
      ...(isUpdate && { resourceVersion: hole.resourceVersion }),
    };
    return JSON.stringify(kind.object({ metadata, revision: hole.revision, bytes })).split(holes);
  };
  const forCreate = pieces(false);
  const forUpdate = pieces(true);
  return ({ name, revision, resourceVersion }) => {
    const [...parts] = resourceVersion === undefined ? forCreate : forUpdate;
    for (let i = 1; i < parts.length; i += 2) {
      if (parts[i] === hole.name) parts[i] = name;
      else if (parts[i] === hole.sent) parts[i] = performance.now().toFixed(3);
      else parts[i] = parts[i] === hole.resourceVersion ? resourceVersion! : String(revision);
    }
    return Buffer.from(parts.join(''), 'latin1');
  };
}

/** Text that is neither repetitive nor random, similar to real data. */
function filler(length: number, seed: number): string {
  let state = seed * 2654435761 + 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

const configMaps: LoadKind = {
  plural: 'configmaps',
  collection: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
  object({ metadata, revision, bytes }) {
    const data: Record<string, string> = { revision: String(revision) };
    const keys = Math.max(1, Math.round(bytes / 512));
    const each = Math.max(8, Math.floor((bytes - 350) / keys) - 16);
    for (let i = 0; i < keys; i++) data[`key-${i}.yaml`] = filler(each, i);
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  },
};

/** A custom kind with nested objects, lists and numbers, like typical custom resources. */
const widgets: LoadKind = {
  plural: 'widgets',
  collection: (namespace) => `/apis/bench.capstan.dev/v1/namespaces/${namespace}/widgets`,
  object({ metadata, revision, bytes }) {
    const ports = [];
    for (let i = 0; i < Math.max(1, Math.round((bytes - 400) / 200)); i++) {
      ports.push({
        name: `port-${i}`,
        number: 1024 + i,
        protocol: 'TCP',
        description: filler(40, i),
        fixedIPs: [{ subnet: { id: filler(36, i + 100) }, ipAddress: `192.0.2.${i % 250}` }],
      });
    }
    const spec = { replicas: revision, flavor: 'm1.large', image: { filter: { name: 'ubuntu' } }, ports };
    return { apiVersion: 'bench.capstan.dev/v1', kind: 'Widget', metadata, spec };
  },
};

const text = { type: 'string' };

export const widgetDefinition: object = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.bench.capstan.dev' },
  spec: {
    group: 'bench.capstan.dev',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['flavor'],
                properties: {
                  replicas: { type: 'integer', minimum: 0 },
                  flavor: { ...text, minLength: 1 },
                  image: {
                    type: 'object',
                    properties: { id: text, filter: { type: 'object', properties: { name: text } } },
                  },
                  ports: {
                    type: 'array',
                    maxItems: 200,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { ...text, maxLength: 63, pattern: '^[a-z0-9-]+$' },
                        number: { type: 'integer', minimum: 1, maximum: 65_535 },
                        protocol: { ...text, enum: ['TCP', 'UDP'], default: 'TCP' },
                        description: text,
                        fixedIPs: {
                          type: 'array',
                          items: {
                            type: 'object',
                            properties: {
                              subnet: { type: 'object', properties: { id: text } },
                              ipAddress: text,
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

export const loadKinds: Readonly<Record<string, LoadKind>> = { configmaps: configMaps, widgets };
