import type { KubeObject, Resource, UnstructuredObject } from '../../../machinery/index.ts';

/** The cluster configuration as an object in the cluster. */
export const ClusterConfigs: Resource<UnstructuredObject> = {
  group: 'k0s.k0sproject.io',
  version: 'v1beta1',
  kind: 'ClusterConfig',
  plural: 'clusterconfigs',
  namespaced: true,
};

/** A chart installed by k0s. */
export const Charts: Resource<UnstructuredObject> = {
  group: 'helm.k0sproject.io',
  version: 'v1beta1',
  kind: 'Chart',
  plural: 'charts',
  namespaced: true,
};

/** CustomResourceDefinitions that k0s adds to a cluster. */
export function k0sDefinitions(): KubeObject[] {
  return [definition(ClusterConfigs, { hasStatus: false }), definition(Charts, { hasStatus: true })];
}

function definition({ group, version, kind, plural }: Resource, { hasStatus }: { hasStatus: boolean }): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          ...(hasStatus && { subresources: { status: {} } }),
        },
      ],
    },
  } as KubeObject;
}
