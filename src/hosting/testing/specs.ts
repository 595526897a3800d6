import type { OwnerReference } from '../../machinery/index.ts';
import {
  hostedNaming,
  k0smotronNaming,
  kamajiNaming,
  kubernetesImages,
  type PlaneFacts,
  type PlaneSpec,
} from '../index.ts';

// Specs that result from the guides' manifests.

const hour = 3_600_000;
const day = 24 * hour;

const ownerOf = (apiVersion: string, kind: string, name: string): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: '6f1f0f6e-0000-4000-8000-000000000001',
  controller: true,
  blockOwnerDeletion: true,
});

const yearly = {
  authorityDurationMs: 3650 * day,
  authorityRenewBeforeMs: 365 * day,
  leafDurationMs: 365 * day,
  leafRenewBeforeMs: 90 * day,
};

/** Guide 000: k0s controllers behind a load balancer, with a single-member etcd. */
export function k0smotronPlaneSpec(more: Partial<PlaneSpec> = {}): PlaneSpec {
  const cluster = 'openstack-hcp-cluster';
  return {
    identity: {
      namespace: 'hcp-system',
      clusterName: cluster,
      owner: ownerOf('k0smotron.io/v1beta2', 'Cluster', cluster),
    },
    naming: k0smotronNaming(cluster, 'LoadBalancer'),
    layout: 'k0s',
    version: 'v1.32.6+k0s.0',
    replicas: 1,
    images: { k0s: 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0', etcd: 'quay.io/k0sproject/etcd:v3.5.13' },
    components: {},
    pods: {},
    dataStore: { kind: 'own-etcd', members: 1, storage: { size: '1Gi' }, deleteVolumes: false },
    exposure: {
      type: 'LoadBalancer',
      apiPort: 6443,
      konnectivityPort: 8132,
      sans: [],
      aliasServiceName: 'openstack-hcp-cluster-cp',
    },
    network: { serviceCidrs: ['10.96.0.0/12'], podCidrs: ['10.244.0.0/16'], domain: 'cluster.local' },
    konnectivity: undefined,
    addons: { kubeadm: false },
    apiServer: { admissionPlugins: [] },
    certificates: yearly,
    k0s: {
      config: {
        apiVersion: 'k0s.k0sproject.io/v1beta1',
        kind: 'ClusterConfig',
        metadata: { name: 'k0s' },
        spec: {
          extensions: {
            helm: {
              charts: [
                {
                  name: 'openstack-ccm',
                  chartname: 'openstack/openstack-cloud-controller-manager',
                  order: 1,
                  version: '2.31.1',
                },
              ],
              repositories: [{ name: 'openstack', url: 'https://charts.example.org/' }],
            },
          },
          network: {
            provider: 'calico',
            calico: { mode: 'vxlan' },
            podCIDR: '10.244.0.0/16',
            serviceCIDR: '10.96.0.0/12',
          },
        },
      },
      flags: ['--enable-cloud-provider=true', '--debug=true'],
      persistence: { type: 'emptyDir' },
      manifests: [],
      mounts: [],
    },
    patches: [],
    ...more,
  };
}

/** Guide 002: all components in one Deployment, with data in a shared etcd. */
export function kamajiPlaneSpec(more: Partial<PlaneSpec> = {}): PlaneSpec {
  const tenant = 'kamaji-quickstart-control-plane';
  return {
    identity: {
      namespace: 'default',
      clusterName: 'capi-quickstart',
      owner: ownerOf('kamaji.clastix.io/v1alpha1', 'TenantControlPlane', tenant),
    },
    naming: kamajiNaming(tenant),
    layout: 'together',
    version: 'v1.28.10',
    replicas: 1,
    images: { ...kubernetesImages('v1.28.10'), kine: 'rancher/kine:v0.11.10-amd64' },
    components: {
      apiServer: { args: ['--cloud-provider=external'] },
      controllerManager: { args: ['--cloud-provider=external'] },
    },
    pods: { serviceAccountName: 'default' },
    dataStore: {
      kind: 'shared-etcd',
      endpoints: ['etcd-0.etcd.kamaji-system.svc:2379', 'etcd-1.etcd.kamaji-system.svc:2379'],
      prefix: 'default_kamaji_quickstart',
      user: 'default_kamaji_quickstart',
      authority: {
        secretNamespace: 'kamaji-system',
        secretName: 'etcd-certs',
        certificateKey: 'ca.crt',
        privateKeyKey: 'ca.key',
      },
    },
    exposure: {
      type: 'LoadBalancer',
      apiPort: 6443,
      konnectivityPort: 8132,
      metadata: { annotations: { 'service.beta.kubernetes.io/openstack-internal-load-balancer': 'false' } },
      sans: [],
    },
    network: { serviceCidrs: ['10.96.0.0/16'], podCidrs: ['10.244.0.0/16'], domain: 'cluster.local' },
    konnectivity: {},
    addons: { coreDns: { replicas: 2 }, kubeProxy: {}, kubeadm: true },
    apiServer: {
      admissionPlugins: ['NamespaceLifecycle', 'ServiceAccount'],
      kubeletPreferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'],
    },
    certificates: { ...yearly, leafRenewBeforeMs: day },
    patches: [],
    ...more,
  };
}

/** A HostedControlPlane with three replicas behind a Gateway. */
export function hostedPlaneSpec(more: Partial<PlaneSpec> = {}): PlaneSpec {
  const cluster = 'shop';
  return {
    identity: {
      namespace: 'teams',
      clusterName: cluster,
      owner: ownerOf('controlplane.cluster.x-k8s.io/v1alpha1', 'HostedControlPlane', 'shop-cp'),
      metadata: { labels: { 'topology.cluster.x-k8s.io/owned': '' } },
    },
    naming: hostedNaming(cluster),
    layout: 'hardened',
    version: 'v1.33.6',
    replicas: 3,
    images: { ...kubernetesImages('v1.33.6'), etcd: 'registry.k8s.io/etcd:3.6.5-0' },
    components: { controllerManager: { replicas: 2 }, apiServer: { priorityClassName: 'planes' } },
    pods: {},
    dataStore: { kind: 'own-etcd', members: 3, storage: { size: '1Gi' }, deleteVolumes: true },
    exposure: {
      type: 'LoadBalancer',
      apiPort: 443,
      apiTargetPort: 6443,
      legacyApiPort: 6443,
      konnectivityPort: 8132,
      sans: ['api.shop.example.org'],
      gateway: { namespace: 'gateways', name: 'planes' },
    },
    network: { serviceCidrs: ['10.96.0.0/12'], podCidrs: ['10.0.0.0/16'], domain: 'cluster.local' },
    konnectivity: { agentReplicas: 2 },
    addons: { coreDns: { replicas: 2 }, kubeProxy: {}, kubeadm: true },
    apiServer: {
      admissionPlugins: [],
      audit: {
        policy: { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] },
        mode: 'batch',
      },
      authentication: { apiVersion: 'apiserver.config.k8s.io/v1beta1', kind: 'AuthenticationConfiguration', jwt: [] },
    },
    certificates: {
      authorityDurationMs: 48 * hour,
      authorityRenewBeforeMs: 24 * hour,
      leafDurationMs: 24 * hour,
      leafRenewBeforeMs: 12 * hour,
    },
    patches: [],
    ...more,
  };
}

export const certificateText = (name: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(name).toString('base64')}\n-----END CERTIFICATE-----\n`;

export function factsOf(desired: PlaneSpec, more: Partial<PlaneFacts> = {}): PlaneFacts {
  const names = Object.values(desired.naming.secrets).map(({ name }) => name);
  const store = desired.dataStore;
  return {
    service: { clusterIPs: ['10.43.0.17'], ingress: [{ ip: '203.0.113.9' }] },
    ...(desired.exposure.gateway && {
      gateway: { domain: 'planes.example.org', listener: 'tls', port: 443, addresses: ['203.0.113.80'] },
    }),
    checksums: new Map(names.map((name) => [name, `sum-of-${name}`.slice(0, 63)])),
    trust: {
      ca: certificateText('ca'),
      'etcd-ca': certificateText('etcd-ca'),
      'front-proxy-ca': certificateText('front-proxy-ca'),
    },
    ...(store.kind === 'own-etcd' && {
      etcd: {
        replicas: store.members,
        image: desired.images.etcd ?? '',
        settings: {
          initialCluster: `${desired.naming.etcd}-0=https://${desired.naming.etcd}-0:2380`,
          initialClusterState: 'existing',
          claims: {},
          discard: {},
        },
      },
    }),
    workload: { nodes: 3, kubeletVersions: [] },
    ...more,
  };
}
