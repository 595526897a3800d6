import {
  type ClusterClass,
  ClusterClasses,
  type ClusterClassSpec,
  Clusters,
  clusterNameLabel,
  Secrets,
  type Topology,
} from '../../../api/index.ts';
import type { JsonObject, Resource, UnstructuredObject } from '../../../machinery/index.ts';
import type { BuiltInHookHandler } from '../../shared/index.ts';
import { createHookCaller } from '../../shared/index.ts';
import {
  FakeClusterTemplates,
  FakeConfigTemplates,
  FakeControlPlaneTemplates,
  FakeMachineTemplates,
} from '../../testing/provider-kinds.ts';
import { by, createWorld, type World, type WorldOptions } from '../../testing/world.ts';
import { setupTopologyControllers } from '../setup.ts';

/** Starts a world with the topology controllers. */
export function createTopologyWorld(
  options: WorldOptions & { hooks?: readonly BuiltInHookHandler[] } = {},
): Promise<World> {
  return createWorld({
    ...options,
    topologies: true,
    extend: (manager, { client, clock, externals }) =>
      setupTopologyControllers(manager, {
        client,
        clock,
        externals,
        hooks: createHookCaller({ clock, builtIn: options.hooks ?? [] }),
      }),
  });
}

const reference = ({ group, version, kind }: Resource, name: string) => ({
  templateRef: { apiVersion: `${group}/${version}`, kind, name },
});

/** Creates a class with a variable for the flavor, and all its templates. */
export async function createClass(world: World, name = 'small', over: Partial<ClusterClassSpec> = {}): Promise<void> {
  const template = async (resource: Resource<UnstructuredObject>, spec: JsonObject, suffix = ''): Promise<void> => {
    await world.client.create(
      resource,
      {
        apiVersion: `${resource.group}/${resource.version}`,
        kind: resource.kind,
        metadata: { name: `${name}${suffix}`, namespace: world.namespace },
        spec: { template: { spec } },
      },
      by,
    );
  };
  await template(FakeClusterTemplates, { region: 'one' });
  await template(FakeControlPlaneTemplates, { etcd: 'local' });
  await template(FakeMachineTemplates, { flavor: 'unset' });
  await template(FakeConfigTemplates, { commands: [] });
  await world.client.create(ClusterClasses, classOf(world, name, over), by);
}

export function classOf(world: World, name: string, over: Partial<ClusterClassSpec> = {}): ClusterClass {
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name, namespace: world.namespace },
    spec: {
      infrastructure: reference(FakeClusterTemplates, name),
      controlPlane: reference(FakeControlPlaneTemplates, name),
      workers: {
        machineDeployments: [
          {
            class: 'worker',
            bootstrap: reference(FakeConfigTemplates, name),
            infrastructure: reference(FakeMachineTemplates, name),
          },
        ],
      },
      variables: [
        { name: 'flavor', required: false, schema: { openAPIV3Schema: { type: 'string', default: 'm1.small' } } },
      ],
      patches: [
        {
          name: 'flavor',
          definitions: [
            {
              selector: {
                apiVersion: `${FakeMachineTemplates.group}/${FakeMachineTemplates.version}`,
                kind: FakeMachineTemplates.kind,
                matchResources: { machineDeploymentClass: { names: ['worker'] } },
              },
              jsonPatches: [{ op: 'replace', path: '/spec/template/spec/flavor', valueFrom: { variable: 'flavor' } }],
            },
          ],
        },
      ],
      ...over,
    },
  };
}

/** Creates a Cluster of a class, and its kubeconfig in place of a control plane provider. */
export async function createTopologyCluster(
  world: World,
  name: string,
  topology: Partial<Topology> = {},
): Promise<void> {
  const { client, namespace } = world;
  await client.create(
    Clusters,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name, namespace },
      spec: {
        topology: {
          classRef: { name: 'small' },
          version: 'v1.33.0',
          workers: { machineDeployments: [{ class: 'worker', name: 'md-0', replicas: 2 }] },
          ...topology,
        },
      },
    },
    by,
  );
  await client.create(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-kubeconfig`, namespace, labels: { [clusterNameLabel]: name } },
      type: 'cluster.x-k8s.io/secret',
      data: { value: Buffer.from('in process').toString('base64') },
    },
    by,
  );
}
