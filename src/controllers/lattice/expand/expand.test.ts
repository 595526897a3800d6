import { describe, expect, it } from 'vitest';
import { type LatticeCluster, type LatticeClusterSpec, latticeSettings } from '../../../api/index.ts';
import { asJson, type JsonObject, must } from '../../../machinery/index.ts';
import type { ImageKind, LatticeFacts } from '../facts.ts';
import { expand } from './expand.ts';
import type { ExpandedObject } from './naming.ts';

const printed: LatticeClusterSpec = {
  provider: {
    kubernetes: { version: '1.32.0' },
    config: {
      openstack: {
        externalNetworkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650',
        cpFlavor: 'b2-30',
        workerFlavor: 'b2-15',
        imageName: 'Ubuntu 22.04',
        sshKeyName: 'lattice-key',
        cpRootVolumeSizeGb: 50,
        cpRootVolumeType: 'high-speed',
      },
    },
  },
  nodes: { controlPlane: 3, workerPools: { default: { replicas: 5 } } },
};

type OpenStackSettings = NonNullable<LatticeClusterSpec['provider']['config']['openstack']>;

function cluster(change: (spec: LatticeClusterSpec, openstack: OpenStackSettings) => void = () => {}): LatticeCluster {
  const spec = structuredClone(printed);
  change(spec, must(spec.provider.config.openstack, 'openstack'));
  return {
    apiVersion: 'lattice.dev/v1alpha1',
    kind: 'LatticeCluster',
    metadata: { name: 'my-cluster', uid: 'u-1' },
    spec,
  };
}

const factsOf = (image: ImageKind): LatticeFacts => ({
  cloud: { externalNetworkId: '375af7fe-a2c1-4c26-a57d-6d33175a6650', image },
  credentials: { 'clouds.yaml': 'Y2xvdWRz' },
  texts: { cloudsYaml: 'clouds: {}\n', cloudConf: '[Global]\n', ca: 'PEM' },
  addons: [{ name: 'cilium', manifests: 'kind: DaemonSet\n' }],
});

const expanded = (object: LatticeCluster, image: ImageKind = 'stock'): ExpandedObject[] =>
  expand(object, must(latticeSettings(object), 'settings'), factsOf(image));

function find(objects: readonly ExpandedObject[], kind: string, prefix = ''): JsonObject {
  const found = objects.find(({ object }) => object.kind === kind && object.metadata.name?.startsWith(prefix));
  return asJson(must(found, `${kind} ${prefix}`).object);
}

const namesOf = (objects: readonly ExpandedObject[]): string[] =>
  objects.map(({ object: { kind, metadata } }) => `${kind} ${metadata.name?.replace(/-[0-9a-f]{8}$/, '-HASH')}`);

describe('expanding a LatticeCluster', () => {
  it('creates all objects in its namespace, owned by it, in the order of their dependencies', () => {
    const objects = expanded(cluster());
    expect(namesOf(objects)).toEqual([
      'Secret my-cluster-cloud-config',
      'Secret my-cluster-add-ons-credentials',
      'ConfigMap my-cluster-add-ons-cilium',
      'ClusterResourceSet my-cluster-add-ons',
      'OpenStackCluster my-cluster',
      'OpenStackMachineTemplate my-cluster-control-plane-HASH',
      'KubeadmControlPlane my-cluster-control-plane',
      'Cluster my-cluster',
      'OpenStackMachineTemplate my-cluster-pool-default-HASH',
      'KubeadmConfigTemplate my-cluster-pool-default-HASH',
      'MachineDeployment my-cluster-pool-default',
    ]);
    for (const { object } of objects) {
      expect(object.metadata).toMatchObject({
        namespace: 'capi-my-cluster',
        labels: { 'lattice.dev/cluster': 'my-cluster' },
        ownerReferences: [{ kind: 'LatticeCluster', name: 'my-cluster', uid: 'u-1' }],
      });
    }
  });

  it('names the copied Secret in identityRef, requests a load balancer, and opens ports for Cilium', () => {
    expect(find(expanded(cluster()), 'OpenStackCluster')['spec']).toMatchObject({
      identityRef: { name: 'my-cluster-cloud-config', cloudName: 'openstack' },
      managedSubnets: [{ cidr: '10.6.0.0/24', dnsNameservers: ['8.8.8.8', '8.8.4.4'] }],
      apiServer: { managedLoadBalancer: { enabled: true } },
      managedSecurityGroups: {
        allowAllInClusterTraffic: false,
        clusterNodesSecurityGroupRules: expect.arrayContaining([
          expect.objectContaining({ protocol: 'udp', portRangeMin: 8472 }),
        ]),
      },
    });
    const without = expanded(cluster((_, openstack) => Object.assign(openstack, { managedSecurityGroups: false })));
    expect(find(without, 'OpenStackCluster')['spec']).not.toHaveProperty('managedSecurityGroups');
  });

  it('puts availability zones into the fields that have an effect', () => {
    const objects = expanded(
      cluster((_, openstack) => Object.assign(openstack, { cpAvailabilityZone: 'az2', workerAvailabilityZone: 'az3' })),
    );
    expect(find(objects, 'OpenStackCluster')['spec']).toMatchObject({ controlPlaneAvailabilityZones: ['az2'] });
    expect(find(objects, 'MachineDeployment')['spec']).toMatchObject({ template: { spec: { failureDomain: 'az3' } } });
    expect(JSON.stringify(find(objects, 'OpenStackMachineTemplate'))).not.toContain('az2');
  });

  it('installs pinned packages on a stock image, and none on a prepared one', () => {
    const plane = JSON.stringify(find(expanded(cluster()), 'KubeadmControlPlane'));
    expect(plane).toContain("'kubeadm=1.32.0-*'");
    expect(plane).toContain('https://pkgs.k8s.io/core:/stable:/v1.32/deb/');
    expect(plane).toContain('openstack:///{{ instance_id }}');
    const prepared = expanded(cluster(), 'prepared');
    expect(JSON.stringify(prepared)).not.toContain('apt-get');
  });

  it('gives credentials to the cluster in both forms, with the certificate authority of the cloud', () => {
    const secret = find(expanded(cluster()), 'Secret', 'my-cluster-add-ons');
    expect(secret['type']).toBe('addons.cluster.x-k8s.io/resource-set');
    const data = secret['data'] as Record<string, string>;
    const text = Buffer.from(data['credentials.yaml'] ?? '', 'base64').toString();
    expect(text).toContain('name: openstack-cloud-config');
    const conf = /cloud\.conf: (\S+)/.exec(text)?.[1] ?? '';
    expect(Buffer.from(conf, 'base64').toString()).toContain(
      'floating-network-id=375af7fe-a2c1-4c26-a57d-6d33175a6650',
    );
    expect(text).toContain('cacert:');
  });

  it('names templates by their content, so that edits roll machines and scaling does not', () => {
    const before = expanded(cluster());
    const nameOf = (objects: readonly ExpandedObject[], kind: string, prefix: string): unknown =>
      (find(objects, kind, prefix)['metadata'] as JsonObject)['name'];
    const scaled = expanded(
      cluster(({ nodes }) => Object.assign(nodes, { workerPools: { default: { replicas: 6 } } })),
    );
    const labelled = expanded(
      cluster(({ nodes }) => Object.assign(nodes, { workerPools: { default: { replicas: 5, labels: { a: 'b' } } } })),
    );
    const larger = expanded(cluster((_, openstack) => Object.assign(openstack, { workerFlavor: 'b2-30' })));
    const config = 'KubeadmConfigTemplate';
    const servers = 'OpenStackMachineTemplate';
    const pool = 'my-cluster-pool-default';
    expect(nameOf(scaled, config, pool)).toBe(nameOf(before, config, pool));
    expect(nameOf(scaled, servers, pool)).toBe(nameOf(before, servers, pool));
    expect(nameOf(labelled, config, pool)).not.toBe(nameOf(before, config, pool));
    expect(nameOf(larger, servers, pool)).not.toBe(nameOf(before, servers, pool));
    expect(nameOf(larger, servers, 'my-cluster-control-plane')).toBe(
      nameOf(before, servers, 'my-cluster-control-plane'),
    );
  });

  it('sets labels and taints of a pool, and leaves its size to an autoscaler with bounds', () => {
    const objects = expanded(
      cluster(({ nodes }) => {
        nodes.workerPools = {
          gpu: {
            replicas: 1,
            min: 1,
            max: 4,
            labels: { 'node-role.kubernetes.io/gpu': '', disk: 'ssd' },
            taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
          },
        };
      }),
    );
    const config = JSON.stringify(find(objects, 'KubeadmConfigTemplate'));
    expect(config).toContain('disk=ssd,lattice.dev/pool=gpu');
    expect(config).toContain('"taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}]');
    const deployment = find(objects, 'MachineDeployment');
    expect(deployment['spec']).not.toHaveProperty('replicas');
    expect(deployment['spec']).toMatchObject({
      template: { metadata: { labels: { 'node-role.kubernetes.io/gpu': '' } } },
    });
    expect(deployment['metadata']).toMatchObject({
      annotations: {
        'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size': '1',
        'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size': '4',
      },
    });
  });

  it('creates rke2 objects with their version and port', () => {
    const objects = expanded(cluster(({ provider }) => Object.assign(provider.kubernetes, { bootstrap: 'rke2' })));
    expect(namesOf(objects)).toContain('RKE2ControlPlane my-cluster-control-plane');
    expect(find(objects, 'RKE2ControlPlane')['spec']).toMatchObject({
      version: 'v1.32.0+rke2r1',
      registrationMethod: 'control-plane-endpoint',
      serverConfig: { cni: 'none', disableComponents: { kubernetesComponents: ['cloudController'] } },
    });
    expect(find(objects, 'OpenStackCluster')['spec']).toMatchObject({
      apiServer: { managedLoadBalancer: { additionalPorts: [9345] } },
    });
    expect(JSON.stringify(find(objects, 'RKE2ConfigTemplate'))).toContain('lattice.dev/pool=default');
    expect(find(objects, 'MachineDeployment')['spec']).toMatchObject({
      template: { spec: { bootstrap: { configRef: { kind: 'RKE2ConfigTemplate' } } } },
    });
  });
});
