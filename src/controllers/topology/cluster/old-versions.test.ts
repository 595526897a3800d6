import { afterEach, expect, it } from 'vitest';
import {
  type Cluster,
  Clusters,
  KubeadmConfigTemplates,
  KubeadmControlPlanes,
  MachineDeployments,
  OpenStackMachineTemplates,
} from '../../../api/index.ts';
import { asTyped, type JsonObject, type Resource, type UnstructuredObject } from '../../../machinery/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { by, type World } from '../../testing/world.ts';
import { createTopologyWorld } from '../testing/class-world.ts';

let world: World;
afterEach(async () => {
  await world?.stop();
});

const old = (group: string, kind: string, version = 'v1beta1'): Resource<UnstructuredObject> => ({
  group: `${group}.cluster.x-k8s.io`,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});
const infrastructure = old('infrastructure', 'OpenStackClusterTemplate');
const machines = old('infrastructure', 'OpenStackMachineTemplate');
const plane = old('controlplane', 'KubeadmControlPlaneTemplate');
const bootstrap = old('bootstrap', 'KubeadmConfigTemplate');
const classes: Resource<UnstructuredObject> = {
  group: 'cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'ClusterClass',
  plural: 'clusterclasses',
  namespaced: true,
};

it('a cluster of v1beta1 classes and templates is created, and then nothing is written', async () => {
  world = await createTopologyWorld();
  const { client, namespace } = world;
  const create = (resource: Resource<UnstructuredObject>, spec: JsonObject, name = 'old') =>
    client.create(
      resource,
      { apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, metadata: { name, namespace }, spec },
      by,
    );
  const ref = ({ group, version, kind }: Resource, name = 'old') => ({
    ref: { apiVersion: `${group}/${version}`, kind, name },
  });
  await create(infrastructure, { template: { spec: { identityRef: { name: 'cloud', cloudName: 'openstack' } } } });
  await create(machines, { template: { spec: { flavor: 'unset', image: { filter: { name: 'i' } } } } });
  await create(plane, {
    template: {
      spec: {
        kubeadmConfigSpec: {
          clusterConfiguration: { apiServer: { extraArgs: { 'cloud-provider': 'external' } } },
          initConfiguration: { nodeRegistration: { kubeletExtraArgs: { a: 'b' } } },
        },
      },
    },
  });
  await create(bootstrap, {
    template: {
      spec: { joinConfiguration: { nodeRegistration: { kubeletExtraArgs: { 'cloud-provider': 'external' } } } },
    },
  });
  const selector = ({ group, version, kind }: Resource, matchResources: JsonObject): JsonObject => ({
    apiVersion: `${group}/${version}`,
    kind,
    matchResources,
  });
  await create(classes, {
    infrastructure: ref(infrastructure),
    controlPlane: { ...ref(plane), machineInfrastructure: ref(machines), nodeDrainTimeout: '2m0s' },
    workers: {
      machineDeployments: [{ class: 'w', template: { bootstrap: ref(bootstrap), infrastructure: ref(machines) } }],
    },
    variables: [{ name: 'flavor', required: true, schema: { openAPIV3Schema: { type: 'string' } } }],
    patches: [
      {
        name: 'flavor',
        definitions: [
          {
            selector: selector(machines, { controlPlane: true, machineDeploymentClass: { names: ['*'] } }),
            jsonPatches: [{ op: 'replace', path: '/spec/template/spec/flavor', valueFrom: { variable: 'flavor' } }],
          },
        ],
      },
      {
        name: 'arguments',
        definitions: [
          {
            selector: selector(bootstrap, { machineDeploymentClass: { names: ['w'] } }),
            jsonPatches: [
              {
                op: 'add',
                path: '/spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/node-labels',
                valueFrom: { template: 'x={{ .builtin.machineDeployment.topologyName }}' },
              },
            ],
          },
        ],
      },
    ],
  });
  const clusters: Resource<UnstructuredObject> = { ...classes, kind: 'Cluster', plural: 'clusters' };
  await create(
    clusters,
    {
      topology: {
        class: 'old',
        version: 'v1.33.0',
        controlPlane: { replicas: 3 },
        workers: { machineDeployments: [{ class: 'w', name: 'md', replicas: 1 }] },
        variables: [{ name: 'flavor', value: 'm1.big' }],
      },
    },
    'c1',
  );
  const reconciled = async () =>
    conditionOf(asTyped<Cluster>((await world.find(Clusters, 'c1'))!), 'TopologyReconciled');
  await world.until(async () => (await reconciled())?.status === 'True');
  const [controlPlane] = await world.list(KubeadmControlPlanes);
  const [deployment] = await world.list(MachineDeployments);
  const template = (await world.find(
    OpenStackMachineTemplates,
    controlPlane!.spec.machineTemplate.spec.infrastructureRef.name,
  ))!;
  expect(template.spec.template.spec.flavor).toEqual({ filter: { name: 'm1.big' } });
  expect(controlPlane!.spec).toMatchObject({
    replicas: 3,
    version: 'v1.33.0',
    machineTemplate: { spec: { deletion: { nodeDrainTimeoutSeconds: 120 } } },
    kubeadmConfigSpec: {
      clusterConfiguration: { apiServer: { extraArgs: [{ name: 'cloud-provider', value: 'external' }] } },
    },
  });
  const config = (await world.find(KubeadmConfigTemplates, deployment!.spec.template.spec.bootstrap.configRef!.name))!;
  expect(config.spec.template.spec?.joinConfiguration?.nodeRegistration?.kubeletExtraArgs).toContainEqual({
    name: 'node-labels',
    value: 'x=md',
  });
  await world.pass(60_000);
  const versions = async (): Promise<(string | undefined)[]> =>
    [...(await world.list(KubeadmControlPlanes)), ...(await world.list(MachineDeployments)), template, config].map(
      ({ metadata }) => metadata.resourceVersion,
    );
  const before = await versions();
  await client.patch(
    Clusters,
    { namespace, name: 'c1' },
    'merge',
    { metadata: { annotations: { look: 'again' } } },
    by,
  );
  await world.pass(60_000);
  expect(await versions()).toEqual(before);
  expect((await world.list(OpenStackMachineTemplates)).length).toBe(3);
  await client.patch(
    Clusters,
    { namespace, name: 'c1' },
    'merge',
    { spec: { topology: { variables: [{ name: 'flavor', value: 'm1.huge' }] } } },
    by,
  );
  await world.until(async () => {
    const [now] = await world.list(KubeadmControlPlanes);
    return now!.spec.machineTemplate.spec.infrastructureRef.name !== template.metadata.name;
  });
  await world.restart();
  await world.pass(60_000);
  expect((await reconciled())?.status).toBe('True');
});
