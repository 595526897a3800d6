import {
  Clusters,
  Gateways,
  HostedControlPlanes,
  K0smotronControlPlanes,
  K0sWorkerConfigTemplates,
  KamajiControlPlanes,
  KubeadmConfigTemplates,
  MachineDeployments,
  MachineHealthChecks,
  OpenStackClusters,
  OpenStackMachineTemplates,
} from '../../src/api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../src/machinery/index.ts';
import { type Manifest, namespace } from './cluster-manifests.ts';

export const hostedKinds = ['k0smotron', 'kamaji', 'hosted'] as const;
export type HostedKind = (typeof hostedKinds)[number];

/** Short description of a desired cluster with a control plane in Pods. */
export interface HostedSpec {
  readonly name: string;
  readonly kind: HostedKind;
  readonly replicas: number;
  readonly workers: number;
  readonly version: string;
  /** version of the workers, changed separately from the plane's */
  readonly workerVersion: string;
  /** whether volumes are deleted with the plane; k0smotron lets users choose */
  readonly deletesVolumes: boolean;
}

interface KindOfPlane {
  readonly resource: Resource<KubeObject>;
  readonly kubernetesVersion: (version: string) => string;
  readonly spec: (desired: HostedSpec) => JsonObject;
}

const k0sVersion = (version: string): string => `${version}+k0s.0`;

export const planeKinds: Readonly<Record<HostedKind, KindOfPlane>> = {
  k0smotron: {
    resource: K0smotronControlPlanes,
    kubernetesVersion: k0sVersion,
    spec: ({ deletesVolumes }) => ({
      service: { type: 'LoadBalancer', apiPort: 6443, konnectivityPort: 8132 },
      storage: { type: 'etcd', etcd: { persistence: { size: '1Gi' }, autoDeletePVCs: deletesVolumes } },
    }),
  },
  kamaji: {
    resource: KamajiControlPlanes,
    kubernetesVersion: (version) => version,
    spec: () => ({
      dataStoreName: 'default',
      addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
      network: { serviceType: 'LoadBalancer' },
    }),
  },
  hosted: {
    resource: HostedControlPlanes,
    kubernetesVersion: (version) => version,
    spec: () => ({ gateway: { namespace, name: 'planes' } }),
  },
};

export const workersName = ({ name }: HostedSpec): string => `${name}-md-0`;

const nodeRegistration: JsonObject = {
  name: '{{ local_hostname }}',
  kubeletExtraArgs: [
    { name: 'cloud-provider', value: 'external' },
    { name: 'provider-id', value: 'openstack:///{{ instance_id }}' },
  ],
};

/** Returns all manifests of the user. */
export function hostedManifests(desired: HostedSpec): Manifest[] {
  const { name, kind, replicas, version } = desired;
  const { resource, spec, kubernetesVersion } = planeKinds[kind];
  return [
    of(Clusters, name, {
      clusterNetwork: {
        pods: { cidrBlocks: ['10.244.0.0/16'] },
        services: { cidrBlocks: ['10.96.0.0/16'] },
        serviceDomain: 'cluster.local',
      },
      controlPlaneRef: { apiGroup: resource.group, kind: resource.kind, name },
      infrastructureRef: { apiGroup: OpenStackClusters.group, kind: OpenStackClusters.kind, name },
    }),
    of(OpenStackClusters, name, {
      identityRef: { name: 'cloud-config', cloudName: 'openstack' },
      apiServer: { enableFloatingIP: false },
      managedSubnets: [{ cidr: '10.20.0.0/24', dnsNameservers: ['9.9.9.9'] }],
      managedSecurityGroups: { allowAllInClusterTraffic: true },
    }),
    of(resource, name, { replicas, version: kubernetesVersion(version), ...spec(desired) }),
    ...(kind === 'hosted' ? [gateway] : []),
    ...workerManifests(desired),
  ];
}

/** Templates are immutable, so workers of another version have their own. */
const templateName = (desired: HostedSpec): string =>
  `${workersName(desired)}-${desired.workerVersion.replaceAll('.', '-')}`;

export function workerTemplates(desired: HostedSpec): Manifest[] {
  const { kind, workerVersion } = desired;
  const called = templateName(desired);
  const isK0s = kind === 'k0smotron';
  const image = isK0s ? 'Ubuntu 22.04' : `ubuntu-capi-image-${workerVersion}`;
  return [
    of(OpenStackMachineTemplates, called, {
      template: {
        spec: {
          flavor: { filter: { name: 'm1.small' } },
          image: { filter: { name: image } },
          sshKeyName: 'demo',
        },
      },
    }),
    of(bootstrapKind(desired), called, {
      template: {
        spec: isK0s ? { version: k0sVersion(workerVersion) } : { joinConfiguration: { nodeRegistration } },
      },
    }),
  ];
}

const bootstrapKind = ({ kind }: HostedSpec): Resource<KubeObject> =>
  kind === 'k0smotron' ? K0sWorkerConfigTemplates : KubeadmConfigTemplates;

/** The version-specific part of a MachineDeployment. */
export function workerVersionSpec(desired: HostedSpec): JsonObject {
  const bootstrap = bootstrapKind(desired);
  const name = templateName(desired);
  return {
    version: desired.workerVersion,
    bootstrap: { configRef: { apiGroup: bootstrap.group, kind: bootstrap.kind, name } },
    infrastructureRef: { apiGroup: OpenStackMachineTemplates.group, kind: OpenStackMachineTemplates.kind, name },
  };
}

/** Replaces workers that have been unreachable for a while. */
export function workerHealthCheck(desired: HostedSpec): Manifest {
  const unhealthyNodeConditions = ['Unknown', 'False'].map((status) => ({
    type: 'Ready',
    status,
    timeoutSeconds: 120,
  }));
  return of(MachineHealthChecks, workersName(desired), {
    clusterName: desired.name,
    selector: { matchLabels: workerLabels(desired) },
    checks: { unhealthyNodeConditions },
  });
}

const workerLabels = (desired: HostedSpec): Record<string, string> => ({
  'cluster.x-k8s.io/deployment-name': workersName(desired),
});

function workerManifests(desired: HostedSpec): Manifest[] {
  const { name, workers } = desired;
  const labels = workerLabels(desired);
  return [
    ...workerTemplates(desired),
    of(MachineDeployments, workersName(desired), {
      clusterName: name,
      replicas: workers,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { clusterName: name, ...workerVersionSpec(desired) },
      },
    }),
  ];
}

const gateway: Manifest = of(Gateways, 'planes', {
  gatewayClassName: 'capstan',
  listeners: [
    {
      name: 'planes',
      port: 8443,
      protocol: 'TLS',
      hostname: '*.planes.test',
      tls: { mode: 'Passthrough' },
      allowedRoutes: { namespaces: { from: 'All' }, kinds: [{ kind: 'TLSRoute' }] },
    },
  ],
});

function of(resource: Resource<KubeObject>, name: string, spec: JsonObject): Manifest {
  const apiVersion = `${resource.group}/${resource.version}`;
  return { resource, object: { apiVersion, kind: resource.kind, metadata: { name, namespace }, spec } as KubeObject };
}
