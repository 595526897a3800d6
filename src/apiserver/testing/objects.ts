import { isJsonObject, type JsonObject, type JsonValue, type KubeObject } from '../../machinery/index.ts';

export type Sent = KubeObject & Record<string, unknown>;

export function configMap(name: string, more: { data?: Record<string, string>; metadata?: object } = {}): Sent {
  const { metadata, ...rest } = more;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...rest };
}

export function pod(name: string, more: { spec?: object; metadata?: object } = {}): Sent {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...more.metadata },
    spec: { containers: [{ name: 'main', image: 'registry.example/main:1' }], ...more.spec },
  };
}

export function deployment(name: string, more: { spec?: object; metadata?: object } = {}): Sent {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, ...more.metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'registry.example/main:1' }] },
      },
      ...more.spec,
    },
  };
}

export interface CrdOptions {
  group: string;
  plural?: string;
  kind?: string;
  scope?: 'Namespaced' | 'Cluster';
  /** replaces the only version, v1 */
  versions?: object[];
  /** properties of `spec` in the only version */
  spec?: Record<string, object>;
  version?: object;
  names?: object;
  conversion?: object;
}

/** Builds a CustomResourceDefinition of widgets. By default it has one version, `v1`, with status and scale. */
export function crd(options: CrdOptions): Sent {
  const { group, plural = 'widgets', kind = 'Widget', scope = 'Namespaced', conversion, names } = options;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, ...names },
      ...(conversion && { conversion }),
      versions: options.versions ?? [crdVersion('v1', { properties: options.spec, ...options.version })],
    },
  };
}

/** Builds a version that is served and stored and has a status subresource. */
export function crdVersion(name: string, more: Record<string, unknown> = {}): object {
  const { properties, ...rest } = more;
  return {
    name,
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              replicas: { type: 'integer' },
              size: { type: 'string' },
              ...(properties as object | undefined),
            },
          },
          status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
    ...rest,
  };
}

export function widget(group: string, name: string, spec: object = {}, more: object = {}, version = 'v1'): Sent {
  return { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name, ...more }, spec };
}

/** Returns the value at a dotted path; undefined if there is none. */
export function at(value: unknown, path: string): JsonValue | undefined {
  let current: unknown = value;
  for (const part of path.split('.')) {
    if (Array.isArray(current)) current = current[Number(part)];
    else if (isJsonObject(current)) current = (current as JsonObject)[part];
    else return undefined;
  }
  return current as JsonValue | undefined;
}
