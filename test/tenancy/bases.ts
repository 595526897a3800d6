import {
  ClusterAddons,
  ClusterClasses,
  ClusterResourceSetBindings,
  ClusterResourceSets,
  ClusterStackReleases,
  ClusterStacks,
  Gateways,
  HostedControlPlaneTemplates,
  Images,
  IPAddresses,
  JoinTokenRequests,
  K0smotronClusters,
  K0smotronControlPlaneTemplates,
  K0sWorkerConfigs,
  KamajiControlPlaneTemplates,
  KubeadmConfigs,
  KubeadmControlPlaneTemplates,
  MachineHealthChecks,
  MachineSets,
  Machines,
  OpenStackClusterStackReleases,
  OpenStackClusterStackReleaseTemplates,
  OpenStackClusterTemplates,
  OpenStackFloatingIPPools,
  OpenStackMachines,
  OpenStackMachineTemplates,
  OpenStackNodeImageReleases,
  OpenStackServers,
  RKE2Configs,
  RKE2ControlPlaneTemplates,
  TenantControlPlanes,
  TlsRoutes,
} from '../../src/api/index.ts';
import { clone, type JsonObject, type KubeObject, type Resource } from '../../src/machinery/index.ts';
import { type Manifest, manifestsOf } from '../simulation/cluster-manifests.ts';
import { type HostedKind, hostedKinds, hostedManifests } from '../simulation/hosted-manifests.ts';

/** Namespace of the hostile tenant. */
export const tenantNamespace = 'tenant';

const version = 'v1.33.6';
const k0sVersion = `${version}+k0s.0`;
const identityRef = { name: 'cloud-config', cloudName: 'openstack' };
const server: JsonObject = {
  flavor: { filter: { name: 'm1.small' } },
  image: { filter: { name: `ubuntu-capi-image-${version}` } },
  sshKeyName: 'demo',
};

export type Flavor = 'kubeadm' | 'rke2' | HostedKind;
export const flavors: readonly Flavor[] = ['kubeadm', 'rke2', ...hostedKinds];

/** Builds a working cluster of a tenant, with all kinds that controllers act on. */
export function workingCluster(flavor: Flavor, name: string): Manifest[] {
  const manifests = flavor === 'kubeadm' ? onMachines(name) : flavor === 'rke2' ? ofRke2(name) : inPods(flavor, name);
  return manifests.map(({ resource, object }) => ({ resource, object: ofTenant(object) }));
}

const small = {
  endpoint: 'floating-ip',
  controlPlanes: 1,
  workers: 1,
  version,
  flavor: 'm1.medium',
  bootFromVolume: false,
  healthCheck: true,
  index: 0,
} as const;

function ofRke2(name: string): Manifest[] {
  const made = manifestsOf({ ...small, name, distribution: 'rke2', index: 1 });
  return [
    ...made,
    of(RKE2ControlPlaneTemplates, name, { template: { spec: templated(specOf(made, 'RKE2ControlPlane')) } }),
    ...singleMachine(name, { resource: RKE2Configs, spec: {} }, `${version}+rke2r1`),
  ];
}

function onMachines(name: string): Manifest[] {
  const made = manifestsOf({ ...small, name });
  const deployment = specOf(made, 'MachineDeployment');
  const labels = { 'cluster.x-k8s.io/set-name': `${name}-set` };
  const template = { ...(deployment['template'] as JsonObject), metadata: { labels } };
  return [
    ...made,
    ...singleMachine(name, {
      resource: KubeadmConfigs,
      spec: { joinConfiguration: { nodeRegistration: { name: '{{ local_hostname }}' } } },
    }),
    of(MachineSets, `${name}-set`, { clusterName: name, replicas: 1, selector: { matchLabels: labels }, template }),
    of(OpenStackServers, `${name}-server`, { ...server, flavor: 'm1.small', identityRef, ports: [{}] }),
    of(Images, `${name}-image`, {
      cloudCredentialsRef: { secretName: 'cloud-config', cloudName: 'openstack' },
      managementPolicy: 'unmanaged',
      import: { filter: { name: 'Ubuntu 22.04' } },
    }),
    of(ClusterResourceSets, `${name}-set`, {
      strategy: 'Reconcile',
      clusterSelector: { matchLabels: { tenant: name } },
      resources: [{ kind: 'Secret', name: `${name}-objects` }],
    }),
    of(ClusterResourceSetBindings, name, { clusterName: name, bindings: [] }),
    of(KubeadmControlPlaneTemplates, name, { template: { spec: templated(specOf(made, 'KubeadmControlPlane')) } }),
    of(OpenStackClusterTemplates, name, { template: { spec: specOf(made, 'OpenStackCluster') } }),
    of(ClusterClasses, name, {
      infrastructure: { templateRef: templateRef(OpenStackClusterTemplates, name) },
      controlPlane: {
        templateRef: templateRef(KubeadmControlPlaneTemplates, name),
        machineInfrastructure: { templateRef: templateRef(OpenStackMachineTemplates, `${name}-control-plane`) },
      },
    }),
    of(OpenStackFloatingIPPools, `${name}-pool`, { identityRef, reclaimPolicy: 'Delete' }),
    of(ClusterStacks, name, {
      provider: 'openstack',
      name: 'hosted-control-plane',
      kubernetesVersion: '1.33',
      versions: ['v1'],
      providerRef: {
        apiVersion: 'infrastructure.clusterstack.x-k8s.io/v1alpha1',
        kind: 'OpenStackClusterStackReleaseTemplate',
        name,
        namespace: tenantNamespace,
      },
    }),
    of(ClusterStackReleases, 'openstack-scs2-1-32-v1', {}),
    of(ClusterAddons, `cluster-addon-${name}`, {
      clusterRef: {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        name,
        namespace: tenantNamespace,
      },
    }),
    of(OpenStackClusterStackReleaseTemplates, name, {
      template: { spec: { identityRef: { kind: 'Secret', name: 'cloud-config' } } },
    }),
    of(OpenStackClusterStackReleases, 'openstack-scs2-1-34-v1', {
      identityRef: { kind: 'Secret', name: 'cloud-config' },
    }),
    of(OpenStackNodeImageReleases, `${name}-node-image`, {
      identityRef: { kind: 'Secret', name: 'cloud-config' },
      image: { url: 'https://images.example.org/x.qcow2', createOpts: { name: 'x' } },
    }),
    of(IPAddresses, `${name}-address`, {
      address: '203.0.113.9',
      prefix: 24,
      claimRef: { name: `${name}-claim` },
      poolRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackFloatingIPPool', name: `${name}-pool` },
    }),
  ];
}

function inPods(kind: HostedKind, name: string): Manifest[] {
  const made = hostedManifests({
    name,
    kind,
    replicas: 1,
    workers: 1,
    version,
    workerVersion: version,
    deletesVolumes: true,
  });
  return [...made, ...beside[kind](name, made)];
}

/** Kinds that no cluster of the simulation has, by provider. */
const beside: Readonly<Record<HostedKind, (name: string, made: readonly Manifest[]) => Manifest[]>> = {
  k0smotron: (name, made) => [
    of(K0smotronClusters, `${name}-alone`, { version: k0sVersion.replace('+', '-'), service: { type: 'ClusterIP' } }),
    of(JoinTokenRequests, name, { clusterName: `${name}-alone` }),
    of(K0smotronControlPlaneTemplates, name, { template: { spec: specOf(made, 'K0smotronControlPlane') } }),
    ...singleMachine(name, { resource: K0sWorkerConfigs, spec: { version: k0sVersion } }),
  ],
  kamaji: (name, made) => [
    of(TenantControlPlanes, `${name}-alone`, {
      controlPlane: { service: { serviceType: 'ClusterIP' } },
      kubernetes: { version, kubelet: { cgroupfs: 'systemd' } },
    }),
    of(KamajiControlPlaneTemplates, name, { template: { spec: templated(specOf(made, 'KamajiControlPlane')) } }),
  ],
  hosted: (name, made) => [
    of(HostedControlPlaneTemplates, name, { template: { spec: templated(specOf(made, 'HostedControlPlane')) } }),
    of(TlsRoutes, `${name}-route`, {
      parentRefs: [{ name: 'planes' }],
      hostnames: [`${name}.planes.test`],
      rules: [{ backendRefs: [{ name: `s-${name}`, port: 443 }] }],
    }),
    of(Gateways, `${name}-gateway`, {
      gatewayClassName: 'capstan',
      listeners: [{ name: 'tls', port: 9443, protocol: 'TLS', tls: { mode: 'Passthrough' } }],
    }),
  ],
};

/** Builds a Machine without an owner, with its own infrastructure and bootstrap objects. */
function singleMachine(
  name: string,
  bootstrap: { resource: Resource<KubeObject>; spec: JsonObject },
  release: string = version,
): Manifest[] {
  const single = `${name}-single`;
  const reference = ({ group, kind }: Resource<KubeObject>): JsonObject => ({ apiGroup: group, kind, name: single });
  return [
    of(Machines, single, {
      clusterName: name,
      version: release,
      bootstrap: { configRef: reference(bootstrap.resource) },
      infrastructureRef: reference(OpenStackMachines),
    }),
    of(OpenStackMachines, single, server),
    of(bootstrap.resource, single, bootstrap.spec),
    of(MachineHealthChecks, single, { clusterName: name, selector: { matchLabels: { single: name } } }),
  ];
}

const specOf = (made: readonly Manifest[], kind: string): JsonObject =>
  (made.find(({ object }) => object.kind === kind)!.object as unknown as { spec: JsonObject }).spec;

const templateRef = ({ group, version, kind }: Resource<KubeObject>, name: string): JsonObject => ({
  apiVersion: `${group}/${version}`,
  kind,
  name,
});

/** Templates of control planes have no replicas, version or machine template. */
function templated({ replicas: _, version: __, machineTemplate: ___, ...spec }: JsonObject): JsonObject {
  return spec;
}

function of(resource: Resource<KubeObject>, name: string, spec: JsonObject): Manifest {
  const apiVersion = `${resource.group}/${resource.version}`;
  const metadata = { name, namespace: tenantNamespace };
  return { resource, object: { apiVersion, kind: resource.kind, metadata, spec } as KubeObject };
}

/** Returns the object in the tenant's namespace, with all its references. */
function ofTenant(object: KubeObject): KubeObject {
  const text = JSON.stringify(clone(object)).replaceAll('"namespace":"default"', `"namespace":"${tenantNamespace}"`);
  return JSON.parse(text) as KubeObject;
}
