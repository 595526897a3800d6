// Kinds of a fake provider, for both contract versions.
import type { Resource, UnstructuredObject } from '../../machinery/index.ts';

const kind = (group: string, name: string, version = 'v1'): Resource<UnstructuredObject> => ({
  group,
  version,
  kind: name,
  plural: `${name.toLowerCase()}s`,
  namespaced: true,
});

export const infrastructureGroup = 'infrastructure.cluster.x-k8s.io';
export const bootstrapGroup = 'bootstrap.cluster.x-k8s.io';
export const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

export const FakeClusters: Resource<UnstructuredObject> = kind(infrastructureGroup, 'FakeCluster');
export const FakeMachines: Resource<UnstructuredObject> = kind(infrastructureGroup, 'FakeMachine');
export const FakeMachineTemplates: Resource<UnstructuredObject> = kind(infrastructureGroup, 'FakeMachineTemplate');
export const FakeConfigs: Resource<UnstructuredObject> = kind(bootstrapGroup, 'FakeConfig');
export const FakeConfigTemplates: Resource<UnstructuredObject> = kind(bootstrapGroup, 'FakeConfigTemplate');
export const FakeControlPlanes: Resource<UnstructuredObject> = kind(controlPlaneGroup, 'FakeControlPlane');
export const FakeClusterTemplates: Resource<UnstructuredObject> = kind(infrastructureGroup, 'FakeClusterTemplate');
export const FakeControlPlaneTemplates: Resource<UnstructuredObject> = kind(
  controlPlaneGroup,
  'FakeControlPlaneTemplate',
);
export const FakeRemediations: Resource<UnstructuredObject> = kind(infrastructureGroup, 'FakeRemediation');
export const FakeRemediationTemplates: Resource<UnstructuredObject> = kind(
  infrastructureGroup,
  'FakeRemediationTemplate',
);

export const providerKinds: readonly Resource<UnstructuredObject>[] = [
  FakeClusters,
  FakeMachines,
  FakeMachineTemplates,
  FakeConfigs,
  FakeConfigTemplates,
  FakeControlPlanes,
  FakeClusterTemplates,
  FakeControlPlaneTemplates,
  FakeRemediations,
  FakeRemediationTemplates,
];

/** Builds the definition of a provider kind for a contract version. */
export function definitionOf(resource: Resource, contract: 'v1beta1' | 'v1beta2' = 'v1beta2'): UnstructuredObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${resource.plural}.${resource.group}`,
      labels: { [`cluster.x-k8s.io/${contract}`]: resource.version },
    },
    spec: {
      group: resource.group,
      scope: 'Namespaced',
      names: { kind: resource.kind, plural: resource.plural },
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
        },
      ],
    },
  };
}
