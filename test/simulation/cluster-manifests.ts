import {
  Clusters,
  KubeadmConfigTemplates,
  KubeadmControlPlanes,
  MachineDeployments,
  MachineHealthChecks,
  OpenStackClusters,
  OpenStackMachineTemplates,
  RKE2ConfigTemplates,
  RKE2ControlPlanes,
} from '../../src/api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../src/machinery/index.ts';

/** Short description of a desired cluster. */
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
  /** distribution of its nodes; default: kubeadm */
  readonly distribution?: 'rke2';
}

export interface Manifest {
  readonly resource: Resource<KubeObject>;
  readonly object: KubeObject;
}

export const namespace = 'default';
/** initial version of workers of some hosted planes */
export const oldestVersion = 'v1.29.14';
export const versions = ['v1.32.8', 'v1.33.6', 'v1.34.2'] as const;

const infrastructureGroup = 'infrastructure.cluster.x-k8s.io';
const bootstrapGroup = 'bootstrap.cluster.x-k8s.io';
const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

/** Templates are immutable, so each kind of machine has its own. */
export function templateName(desired: ClusterSpec, role: 'control-plane' | 'workers'): string {
  const disk = desired.bootFromVolume ? '-volume' : '';
  return `${desired.name}-${role}-${desired.flavor.replace('.', '-')}-${desired.version.replaceAll('.', '-')}${disk}`;
}

/** Resource of its control plane. */
export const planesOf = ({ distribution }: ClusterSpec): Resource<KubeObject> =>
  distribution === 'rke2' ? RKE2ControlPlanes : KubeadmControlPlanes;

/** The version in the distribution's format. */
export const releaseOf = ({ distribution, version }: ClusterSpec): string =>
  distribution === 'rke2' ? `${version}+rke2r1` : version;

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
          image: { filter: { name: imageOf(desired) } },
          sshKeyName: 'demo',
          ...(desired.bootFromVolume && { rootVolume: { sizeGiB: 20 } }),
        },
      },
    }),
  };
}

/** rke2 is installed on machines without Kubernetes. */
function imageOf({ distribution, version }: ClusterSpec): string {
  return distribution === 'rke2' ? 'ubuntu-22.04-x86_64' : `ubuntu-capi-image-${version}`;
}

const agentConfig = { kubelet: { extraArgs: ['provider-id=openstack:///{{ instance_id }}'] } };

function planeSpec({ distribution }: ClusterSpec): JsonObject {
  if (distribution !== 'rke2') {
    return { kubeadmConfigSpec: { initConfiguration: { nodeRegistration }, joinConfiguration: { nodeRegistration } } };
  }
  return { agentConfig, serverConfig: { disableComponents: { kubernetesComponents: ['cloudController'] } } };
}

export function manifestsOf(desired: ClusterSpec): Manifest[] {
  const { name } = desired;
  const planes = planesOf(desired);
  const isRke2 = desired.distribution === 'rke2';
  const configTemplates = isRke2 ? RKE2ConfigTemplates : KubeadmConfigTemplates;
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
        controlPlaneRef: { apiGroup: controlPlaneGroup, kind: planes.kind, name: controlPlaneName(desired) },
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
      resource: planes,
      object: object(planes, controlPlaneName(desired), {
        replicas: desired.controlPlanes,
        version: releaseOf(desired),
        machineTemplate: { spec: { infrastructureRef: infrastructureRef(templateName(desired, 'control-plane')) } },
        ...planeSpec(desired),
      }),
    },
    machineTemplate(desired, 'control-plane'),
    machineTemplate(desired, 'workers'),
    {
      resource: configTemplates,
      object: object(configTemplates, deploymentName(desired), {
        template: { spec: isRke2 ? { agentConfig } : { joinConfiguration: { nodeRegistration } } },
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
            version: releaseOf(desired),
            bootstrap: {
              configRef: { apiGroup: bootstrapGroup, kind: configTemplates.kind, name: deploymentName(desired) },
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
