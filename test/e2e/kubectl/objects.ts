// Small manifests the expectations share.

export function configMap(name: string, data?: Record<string, string>, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...(data && { data }) };
}

/** Never scheduled anywhere: a scheduler of that name does not exist. */
export function pod(name: string, metadata: object = {}, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { schedulerName: 'none', containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
  };
}

/** The parts of a Deployment that tests change before they send it. */
export interface DeploymentManifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    replicas: number;
    selector: { matchLabels: Record<string, string> };
    template: { metadata: object; spec: { containers: object[] } };
  };
}

export function deployment(name: string, replicas = 0, image = 'registry.example/app:1'): DeploymentManifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { app: name } },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image, ports: [{ containerPort: 80 }] }] },
      },
    },
  };
}

/** A custom resource definition with one version that both serves and stores, unless told otherwise. */
export function customResourceDefinition(options: {
  group: string;
  kind: string;
  plural: string;
  scope?: 'Namespaced' | 'Cluster';
  names?: object;
  /** properties of `spec` and `status` beside it */
  properties?: object;
  version?: object;
  versions?: object[];
}): object {
  const { group, kind, plural, scope = 'Namespaced', names = {}, properties = {}, version = {}, versions } = options;
  const schema = { openAPIV3Schema: { type: 'object', properties } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
      versions: versions ?? [{ name: 'v1', served: true, storage: true, schema, ...version }],
    },
  };
}
