import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ClusterClasses,
  Clusters,
  type Node,
  Nodes,
  OpenStackClusterTemplates,
  OpenStackMachineTemplates,
  RKE2ConfigTemplates,
  RKE2ControlPlanes,
  RKE2ControlPlaneTemplates,
} from '../../src/api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../src/machinery/index.ts';
import { workloadOf } from './causes/runner.ts';
import { namespace } from './cluster-manifests.ts';
import { by, createSystem, type System } from './system.ts';

const second = 1_000;
const minute = 60 * second;
const name = 'classy';
const key = { namespace, name };
const releases = ['v1.32.8+rke2r1', 'v1.33.6+rke2r1', 'v1.34.2+rke2r1'];

const object = (resource: Resource<KubeObject>, spec: JsonObject): [Resource<KubeObject>, KubeObject] => [
  resource,
  {
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: { ...key },
    spec,
  } as KubeObject,
];
const reference = ({ group, version, kind }: Resource): JsonObject => ({
  templateRef: { apiVersion: `${group}/${version}`, kind, name },
});
const agentConfig = { kubelet: { extraArgs: ['provider-id=openstack:///{{ instance_id }}'] } };

/** A class of rke2, and a cluster of it. */
const manifests: readonly [Resource<KubeObject>, KubeObject][] = [
  object(OpenStackClusterTemplates, {
    template: {
      spec: {
        identityRef: { name: 'cloud-config', cloudName: 'openstack' },
        managedSubnets: [{ cidr: '10.20.0.0/24', dnsNameservers: ['9.9.9.9'] }],
        managedSecurityGroups: { allowAllInClusterTraffic: true },
        apiServer: { managedLoadBalancer: { enabled: true, additionalPorts: [9345] } },
      },
    },
  }),
  object(OpenStackMachineTemplates, {
    template: {
      spec: {
        flavor: { filter: { name: 'm1.medium' } },
        image: { filter: { name: 'ubuntu-22.04-x86_64' } },
        sshKeyName: 'demo',
      },
    },
  }),
  object(RKE2ControlPlaneTemplates, {
    template: {
      spec: { agentConfig, serverConfig: { disableComponents: { kubernetesComponents: ['cloudController'] } } },
    },
  }),
  object(RKE2ConfigTemplates, { template: { spec: { agentConfig } } }),
  object(ClusterClasses, {
    infrastructure: reference(OpenStackClusterTemplates),
    controlPlane: {
      ...reference(RKE2ControlPlaneTemplates),
      machineInfrastructure: reference(OpenStackMachineTemplates),
    },
    workers: {
      machineDeployments: [
        {
          class: 'agent',
          bootstrap: reference(RKE2ConfigTemplates),
          infrastructure: reference(OpenStackMachineTemplates),
        },
      ],
    },
    kubernetesVersions: releases,
    variables: [{ name: 'plugin', required: false, schema: { openAPIV3Schema: { type: 'string', default: 'canal' } } }],
    patches: [
      {
        name: 'network plugin',
        definitions: [
          {
            selector: {
              apiVersion: `${RKE2ControlPlaneTemplates.group}/${RKE2ControlPlaneTemplates.version}`,
              kind: RKE2ControlPlaneTemplates.kind,
              matchResources: { controlPlane: true },
            },
            jsonPatches: [
              { op: 'add', path: '/spec/template/spec/serverConfig/cni', valueFrom: { variable: 'plugin' } },
            ],
          },
        ],
      },
    ],
  }),
  object(Clusters, {
    clusterNetwork: { pods: { cidrBlocks: ['192.168.0.0/16'] } },
    topology: {
      classRef: { name },
      version: releases[0] ?? '',
      controlPlane: { replicas: 1 },
      workers: { machineDeployments: [{ class: 'agent', name: 'md-0', replicas: 1 }] },
    },
  }),
];

/** A server has its role label only a moment after its Node exists. */
const isServer = ({ metadata }: Node): boolean => metadata.name?.includes('-md-0-') === false;
const versionOf = ({ status }: Node): string => status?.nodeInfo?.kubeletVersion ?? '';

describe('a cluster from a class of rke2', { timeout: 120_000 }, () => {
  let system: System;
  beforeAll(async () => {
    system = await createSystem({ seed: 11 });
    for (const [resource, each] of manifests) await system.client.create(resource, each, by);
    await system.pass(10 * minute);
  });
  afterAll(() => system.stop());

  const nodes = async (): Promise<Node[]> => (await (await workloadOf(system, name)).list(Nodes, {})).items;
  const topology = (change: JsonObject): Promise<unknown> =>
    system.client.patch(Clusters, key, 'merge', { spec: { topology: change } }, by);

  it('has nodes of the release in its topology', async () => {
    expect((await nodes()).map(versionOf)).toEqual([releases[0], releases[0]]);
    const { status } = await system.client.get(Clusters, key);
    expect(status?.conditions?.find(({ type }) => type === 'Available')?.status).toBe('True');
  });

  it('refuses a version that is no release of rke2 of its class', async () => {
    await expect(topology({ version: 'v1.33.6' })).rejects.toThrow(/topology\.version/);
  });

  it('upgrades release by release, its servers before its agents', async () => {
    await topology({ version: releases[2] ?? '' });
    const seen = new Set<string>();
    for (let passed = 0; passed < 30 * minute; passed += second) {
      await system.pass(second);
      const all = await nodes().catch(() => []);
      for (const node of all) seen.add(versionOf(node));
      const oldest = Math.min(...all.filter(isServer).map((node) => releases.indexOf(versionOf(node))));
      for (const agent of all.filter((node) => !isServer(node))) {
        expect(releases.indexOf(versionOf(agent))).toBeLessThanOrEqual(oldest);
      }
      if (all.length === 2 && all.every((node) => versionOf(node) === releases[2])) break;
    }
    expect([...seen].sort()).toEqual(releases);
    expect((await nodes()).map(versionOf)).toEqual([releases[2], releases[2]]);
  });

  it('rolls its servers when a variable changes their configuration', async () => {
    const before = (await nodes()).filter(isServer).map(({ metadata }) => metadata.name);
    await topology({ variables: [{ name: 'plugin', value: 'cilium' }] });
    await system.pass(20 * minute);
    const { items } = await system.client.list(RKE2ControlPlanes, { namespace });
    expect(items[0]?.spec.serverConfig?.cni).toBe('cilium');
    expect(items[0]?.status).toMatchObject({ replicas: 1, readyReplicas: 1, upToDateReplicas: 1 });
    const after = (await nodes()).filter(isServer).map(({ metadata }) => metadata.name);
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
  });
});
