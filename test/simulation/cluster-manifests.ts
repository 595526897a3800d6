import {
  Clusters,
  KubeadmConfigTemplates,
  KubeadmControlPlanes,
  MachineDeployments,
  MachineHealthChecks,
  OpenStackClusters,
  OpenStackMachineTemplates,
} from '../../src/api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../src/machinery/index.ts';

/** A cluster a user wants, in a few words. */
export interface ClusterSpec {
  readonly name: string;
  readonly endpoint: 'floating-ip' | 'load-balancer';
  readonly controlPlanes: number;
  readonly workers: number;
  readonly version: string;
  readonly flavor: string;
  readonly bootFromVolume: boolean;
  readonly healthCheck: boolean;
  readonly index: number;
}

export interface Manifest {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

export const namespace = 'default';
/** workers of some hosted planes begin with it */
export const oldestVersion = 'v1.29.14';
export const versions = ['v1.32.8', 'v1.33.6', 'v1.34.2'] as const;

const infrastructureGroup = 'infrastructure.cluster.x-k8s.io';
const bootstrapGroup = 'bootstrap.cluster.x-k8s.io';
const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

/** Templates cannot be changed: every other kind of machine has a template of its own. */
export function templateName(desired: ClusterSpec, role: 'control-plane' | 'workers'): string {
  const disk = desired.bootFromVolume ? '-volume' : '';
  return `${desired.name}-${role}-${desired.flavor.replace('.', '-')}-${desired.version.replaceAll('.', '-')}${disk}`;
}

export const controlPlaneName = (desired: ClusterSpec): string => `${desired.name}-control-plane`;
export const deploymentName = (desired: ClusterSpec): string => `${desired.name}-md-0`;

export const nodeRegistration: JsonObject = {
  name: '{{ local_hostname }}',
  kubeletExtraArgs: [
    { name: 'cloud-provider', value: 'external' },
    { name: 'provider-id', value: 'openstack:///{{ instance_id }}' },
  ],
};

export function machineTemplate(desired: ClusterSpec, role: 'control-plane' | 'workers'): Manifest {
  return {
    resource: OpenStackMachineTemplates,
    object: object(OpenStackMachineTemplates, templateName(desired, role), {
      template: {
        spec: {
          flavor: { filter: { name: desired.flavor } },
          image: { filter: { name: `ubuntu-capi-image-${desired.version}` } },
          sshKeyName: 'demo',
          ...(desired.bootFromVolume && { rootVolume: { sizeGiB: 20 } }),
        },
      },
    }),
  };
}

export function manifestsOf(desired: ClusterSpec): Manifest[] {
  const { name } = desired;
  const infrastructureRef = (template: string): JsonObject => ({
    apiGroup: infrastructureGroup,
    kind: 'OpenStackMachineTemplate',
    name: template,
  });
  const labels = { 'cluster.x-k8s.io/deployment-name': deploymentName(desired) };
  const all: Manifest[] = [
    {
      resource: Clusters,
      object: object(Clusters, name, {
        clusterNetwork: { pods: { cidrBlocks: ['192.168.0.0/16'] } },
        controlPlaneRef: { apiGroup: controlPlaneGroup, kind: 'KubeadmControlPlane', name: controlPlaneName(desired) },
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'OpenStackCluster', name },
      }),
    },
    {
      resource: OpenStackClusters,
      object: object(OpenStackClusters, name, {
        identityRef: { name: 'cloud-config', cloudName: 'openstack' },
        managedSubnets: [{ cidr: `10.${20 + desired.index}.0.0/24`, dnsNameservers: ['9.9.9.9'] }],
        managedSecurityGroups: { allowAllInClusterTraffic: true },
        ...(desired.endpoint === 'load-balancer' && { apiServer: { managedLoadBalancer: { enabled: true } } }),
      }),
    },
    {
      resource: KubeadmControlPlanes,
      object: object(KubeadmControlPlanes, controlPlaneName(desired), {
        replicas: desired.controlPlanes,
        version: desired.version,
        machineTemplate: { spec: { infrastructureRef: infrastructureRef(templateName(desired, 'control-plane')) } },
        kubeadmConfigSpec: { initConfiguration: { nodeRegistration }, joinConfiguration: { nodeRegistration } },
      }),
    },
    machineTemplate(desired, 'control-plane'),
    machineTemplate(desired, 'workers'),
    {
      resource: KubeadmConfigTemplates,
      object: object(KubeadmConfigTemplates, deploymentName(desired), {
        template: { spec: { joinConfiguration: { nodeRegistration } } },
      }),
    },
    {
      resource: MachineDeployments,
      object: object(MachineDeployments, deploymentName(desired), {
        clusterName: name,
        replicas: desired.workers,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            clusterName: name,
            version: desired.version,
            bootstrap: {
              configRef: { apiGroup: bootstrapGroup, kind: 'KubeadmConfigTemplate', name: deploymentName(desired) },
            },
            infrastructureRef: infrastructureRef(templateName(desired, 'workers')),
          },
        },
      }),
    },
  ];
  if (desired.healthCheck) {
    all.push(healthCheck(desired, 'workers', { matchLabels: labels }));
    all.push(healthCheck(desired, 'control-plane', { matchLabels: { 'cluster.x-k8s.io/control-plane': '' } }));
  }
  return all;
}

function healthCheck(desired: ClusterSpec, role: string, selector: JsonObject): Manifest {
  const unhealthyNodeConditions = ['Unknown', 'False'].map((status) => ({
    type: 'Ready',
    status,
    timeoutSeconds: 120,
  }));
  return {
    resource: MachineHealthChecks,
    object: object(MachineHealthChecks, `${desired.name}-${role}`, {
      clusterName: desired.name,
      selector,
      checks: { unhealthyNodeConditions },
    }),
  };
}

function object(resource: Resource, name: string, spec: JsonObject): KubeObject {
  const apiVersion = `${resource.group}/${resource.version}`;
  return { apiVersion, kind: resource.kind, metadata: { name, namespace }, spec } as KubeObject;
}
