import {
  clusters,
  kubeadmConfigTemplates,
  kubeadmControlPlanes,
  machineDeployments,
  machineHealthChecks,
  openStackClusters,
  openStackMachineTemplates,
} from '../../src/api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../src/machinery/index.ts';

/** A cluster a user wants, in a few words. */
export interface ClusterWish {
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

/** Templates cannot be changed: every wish for other machines has a template of its own. */
export function templateName(wish: ClusterWish, role: 'control-plane' | 'workers'): string {
  const disk = wish.bootFromVolume ? '-volume' : '';
  return `${wish.name}-${role}-${wish.flavor.replace('.', '-')}-${wish.version.replaceAll('.', '-')}${disk}`;
}

export const controlPlaneName = (wish: ClusterWish): string => `${wish.name}-control-plane`;
export const deploymentName = (wish: ClusterWish): string => `${wish.name}-md-0`;

const nodeRegistration: JsonObject = {
  name: '{{ local_hostname }}',
  kubeletExtraArgs: [
    { name: 'cloud-provider', value: 'external' },
    { name: 'provider-id', value: 'openstack:///{{ instance_id }}' },
  ],
};

export function machineTemplate(wish: ClusterWish, role: 'control-plane' | 'workers'): Manifest {
  return {
    resource: openStackMachineTemplates,
    object: object(openStackMachineTemplates, templateName(wish, role), {
      template: {
        spec: {
          flavor: { filter: { name: wish.flavor } },
          image: { filter: { name: `ubuntu-capi-image-${wish.version}` } },
          sshKeyName: 'demo',
          ...(wish.bootFromVolume && { rootVolume: { sizeGiB: 20 } }),
        },
      },
    }),
  };
}

export function manifestsOf(wish: ClusterWish): Manifest[] {
  const { name } = wish;
  const infrastructureRef = (template: string): JsonObject => ({
    apiGroup: infrastructureGroup,
    kind: 'OpenStackMachineTemplate',
    name: template,
  });
  const labels = { 'cluster.x-k8s.io/deployment-name': deploymentName(wish) };
  const all: Manifest[] = [
    {
      resource: clusters,
      object: object(clusters, name, {
        clusterNetwork: { pods: { cidrBlocks: ['192.168.0.0/16'] } },
        controlPlaneRef: { apiGroup: controlPlaneGroup, kind: 'KubeadmControlPlane', name: controlPlaneName(wish) },
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'OpenStackCluster', name },
      }),
    },
    {
      resource: openStackClusters,
      object: object(openStackClusters, name, {
        identityRef: { name: 'cloud-config', cloudName: 'openstack' },
        managedSubnets: [{ cidr: `10.${20 + wish.index}.0.0/24`, dnsNameservers: ['9.9.9.9'] }],
        managedSecurityGroups: { allowAllInClusterTraffic: true },
        ...(wish.endpoint === 'load-balancer' && { apiServer: { managedLoadBalancer: { enabled: true } } }),
      }),
    },
    {
      resource: kubeadmControlPlanes,
      object: object(kubeadmControlPlanes, controlPlaneName(wish), {
        replicas: wish.controlPlanes,
        version: wish.version,
        machineTemplate: { spec: { infrastructureRef: infrastructureRef(templateName(wish, 'control-plane')) } },
        kubeadmConfigSpec: { initConfiguration: { nodeRegistration }, joinConfiguration: { nodeRegistration } },
      }),
    },
    machineTemplate(wish, 'control-plane'),
    machineTemplate(wish, 'workers'),
    {
      resource: kubeadmConfigTemplates,
      object: object(kubeadmConfigTemplates, deploymentName(wish), {
        template: { spec: { joinConfiguration: { nodeRegistration } } },
      }),
    },
    {
      resource: machineDeployments,
      object: object(machineDeployments, deploymentName(wish), {
        clusterName: name,
        replicas: wish.workers,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            clusterName: name,
            version: wish.version,
            bootstrap: {
              configRef: { apiGroup: bootstrapGroup, kind: 'KubeadmConfigTemplate', name: deploymentName(wish) },
            },
            infrastructureRef: infrastructureRef(templateName(wish, 'workers')),
          },
        },
      }),
    },
  ];
  if (wish.healthCheck) {
    all.push(healthCheck(wish, 'workers', { matchLabels: labels }));
    all.push(healthCheck(wish, 'control-plane', { matchLabels: { 'cluster.x-k8s.io/control-plane': '' } }));
  }
  return all;
}

function healthCheck(wish: ClusterWish, role: string, selector: JsonObject): Manifest {
  const unhealthyNodeConditions = ['Unknown', 'False'].map((status) => ({
    type: 'Ready',
    status,
    timeoutSeconds: 120,
  }));
  return {
    resource: machineHealthChecks,
    object: object(machineHealthChecks, `${wish.name}-${role}`, {
      clusterName: wish.name,
      selector,
      checks: { unhealthyNodeConditions },
    }),
  };
}

function object(resource: Resource, name: string, spec: JsonObject): KubeObject {
  const apiVersion = `${resource.group}/${resource.version}`;
  return { apiVersion, kind: resource.kind, metadata: { name, namespace }, spec } as KubeObject;
}
