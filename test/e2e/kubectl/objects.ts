// Small manifests shared by the expectations.

export function configMap(name: string, data?: Record<string, string>, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...(data && { data }) };
}

/** Never scheduled, because its scheduler does not exist. */
export function pod(name: string, metadata: object = {}, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { schedulerName: 'none', containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
  };
}

/** Fields of a Deployment that tests change. */
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

/** Builds a custom resource definition, by default with one version that is served and stored. */
export function customResourceDefinition(options: {
  group: string;
  kind: string;
  plural: string;
  scope?: 'Namespaced' | 'Cluster';
  names?: object;
  /** schema properties besides `spec` and `status` */
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
