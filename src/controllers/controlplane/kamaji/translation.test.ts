import { describe, expect, it } from 'vitest';
import {
  type Cluster,
  Clusters,
  type KamajiControlPlane,
  type KamajiControlPlaneSpec,
  KamajiControlPlanes,
  ownDefinitions,
  type TenantControlPlane,
} from '../../../api/index.ts';
import { formatApiVersion, validateCustomResource } from '../../../machinery/index.ts';
import { tenantOf } from './control-plane/tenant-of.ts';
import { managedDataStore } from './data-store/default-store.ts';
import { tenantPlaneSpec } from './tenant/spec.ts';

const metadata = { name: 'cp', namespace: 'n', uid: 'u' };
const cluster = (spec: Cluster['spec'] = {} as Cluster['spec']): Cluster => ({
  apiVersion: formatApiVersion(Clusters.group, Clusters.version),
  kind: Clusters.kind,
  metadata: { name: 'c', namespace: 'n', uid: 'c' },
  spec,
});
const controlPlane = (spec: Partial<KamajiControlPlaneSpec>): KamajiControlPlane => ({
  apiVersion: formatApiVersion(KamajiControlPlanes.group, KamajiControlPlanes.version),
  kind: KamajiControlPlanes.kind,
  metadata,
  spec: { version: '1.33.1', ...spec },
});
const dataStore = { kind: 'kine', driver: 'MySQL', endpoints: [], schema: 's', user: 'u', tls: false } as const;
const desiredOf = (tenant: TenantControlPlane) =>
  tenantPlaneSpec({ tenant, clusterName: 'c', isOfCluster: true, dataStore });
const translated = (spec: Partial<KamajiControlPlaneSpec>, of?: Cluster['spec']) =>
  desiredOf(tenantOf(controlPlane(spec), cluster(of)));

function problems(object: object, kind: string): unknown[] {
  const { versions } = ownDefinitions.find((definition) => definition.kind === kind)!;
  return validateCustomResource(object as never, versions[0]!.schema);
}

describe('the translation of a KamajiControlPlane', () => {
  const everything: Partial<KamajiControlPlaneSpec> = {
    replicas: 3,
    registry: 'mirror.example.org',
    dataStoreName: 'store',
    dataStoreSchema: 'schema',
    dataStoreUsername: 'user',
    admissionControllers: ['LimitRanger'],
    addons: {
      coreDNS: { imageRepository: 'mirror.example.org/dns', imageTag: 'v2', dnsServiceIPs: ['10.96.0.20'] },
      konnectivity: { server: { port: 9132 }, agent: { mode: 'Deployment', replicas: 4, version: 'v9' } },
    },
    apiServer: {
      extraArgs: ['--v=2'],
      containerImageName: 'api',
      probes: { liveness: { periodSeconds: 3 } },
      resources: { requests: { cpu: '1' } },
      extraVolumeMounts: [{ name: 'x', mountPath: '/x' }],
    },
    kine: { extraArgs: ['--debug'] },
    kubelet: { cgroupfs: 'cgroupfs', configurationJSONPatches: [{ op: 'add', path: '/a', value: 1 }] },
    network: {
      serviceType: 'LoadBalancer',
      serviceAddress: '192.0.2.1',
      advertiseAddress: '198.51.100.1',
      serviceLabels: { a: 'b' },
      serviceAnnotations: { c: 'd' },
      certSANs: ['x.example.org'],
      loadBalancerConfig: { loadBalancerClass: 'octavia', loadBalancerSourceRanges: ['192.0.2.0/24'] },
    },
    deployment: {
      nodeSelector: { zone: 'a' },
      extraVolumes: [{ name: 'x', emptyDir: {} }],
      probes: { liveness: { periodSeconds: 9, timeoutSeconds: 8 } },
      podAdditionalMetadata: { labels: { e: 'f' } },
    },
  };

  it('gives a valid TenantControlPlane', () => {
    expect(problems(tenantOf(controlPlane(everything), cluster()), 'TenantControlPlane')).toEqual([]);
    expect(problems(tenantOf(controlPlane({}), cluster()), 'TenantControlPlane')).toEqual([]);
  });

  it('passes every field on to the plane', () => {
    const desired = translated(everything);
    expect(desired).toMatchObject({
      layout: 'together',
      version: 'v1.33.1',
      replicas: 3,
      images: {
        apiServer: 'mirror.example.org/api:v1.33.1',
        scheduler: 'mirror.example.org/kube-scheduler:v1.33.1',
        coreDns: 'mirror.example.org/dns/coredns:v2',
        konnectivityAgent: 'registry.k8s.io/kas-network-proxy/proxy-agent:v9',
        konnectivityServer: 'registry.k8s.io/kas-network-proxy/proxy-server:v0.33.0',
      },
      exposure: {
        type: 'LoadBalancer',
        apiPort: 6443,
        konnectivityPort: 9132,
        address: '192.0.2.1',
        advertiseAddress: '198.51.100.1',
        metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
        loadBalancerClass: 'octavia',
        loadBalancerSourceRanges: ['192.0.2.0/24'],
        sans: ['x.example.org'],
      },
      network: { dnsAddresses: ['10.96.0.20'] },
      konnectivity: { agentReplicas: 4 },
      addons: {
        coreDns: { replicas: 2 },
        kubeadm: true,
        kubeletPatches: [{ op: 'add', path: '/a', value: 1 }],
        kubeletCgroupDriver: 'cgroupfs',
      },
      apiServer: { admissionPlugins: ['LimitRanger', 'NodeRestriction'] },
      pods: { nodeSelector: { zone: 'a' }, metadata: { labels: { e: 'f' } } },
    });
    expect(desired.addons.kubeProxy).toBeUndefined();
    expect(desired.components.kine?.args).toEqual(['--debug']);
    expect(desired.components.apiServer).toMatchObject({
      args: ['--v=2'],
      resources: { requests: { cpu: '1' } },
      volumeMounts: [{ name: 'x', mountPath: '/x' }],
    });
  });

  it('prefers probe settings of one program over the general ones, value by value', () => {
    const { components } = translated(everything);
    expect(components.apiServer?.probes?.liveness).toEqual({ periodSeconds: 3, timeoutSeconds: 8 });
    expect(components.scheduler?.probes?.liveness).toEqual({ periodSeconds: 9, timeoutSeconds: 8 });
  });

  it('takes missing settings from the Cluster', () => {
    const clusterNetwork = {
      apiServerPort: 8443,
      services: { cidrBlocks: ['10.1.0.0/16', 'fd01::/108'] },
      pods: { cidrBlocks: ['10.2.0.0/16'] },
      serviceDomain: 'corp.local',
    };
    const desired = translated({}, { clusterNetwork } as Cluster['spec']);
    expect(desired.exposure.apiPort).toBe(8443);
    expect(desired.network).toEqual({
      serviceCidrs: ['10.1.0.0/16', 'fd01::/108'],
      podCidrs: ['10.2.0.0/16'],
      domain: 'corp.local',
    });
  });

  it.each([
    ['a.example.org', { host: 'a.example.org', port: 443 }],
    ['a.example.org:40443', { host: 'a.example.org', port: 40443 }],
  ])('contains an Ingress at %s', (hostname, expected) => {
    expect(translated({ network: { ingress: { hostname, className: 'x' } } }).exposure.ingress).toMatchObject({
      ...expected,
      className: 'x',
    });
  });

  it('contains a Gateway', () => {
    const gateway = { name: 'g', namespace: 'gn', hostname: 'a.example.org', sectionName: 's', port: 8443 };
    expect(translated({ network: { gateway } }).exposure.gateway).toEqual({
      name: 'g',
      namespace: 'gn',
      hostname: 'a.example.org',
      sectionName: 's',
      port: 8443,
      metadata: {},
    });
  });
});

it('the managed DataStore is valid', () => {
  const store = managedDataStore({ systemNamespace: 'kamaji-system', defaultDataStore: 'default' });
  expect(problems(store, 'DataStore')).toEqual([]);
  expect(store.spec.endpoints).toEqual([
    'kamaji-etcd-0.kamaji-etcd.kamaji-system.svc.cluster.local:2379',
    'kamaji-etcd-1.kamaji-etcd.kamaji-system.svc.cluster.local:2379',
    'kamaji-etcd-2.kamaji-etcd.kamaji-system.svc.cluster.local:2379',
  ]);
});

it('a TenantControlPlane keeps the name of its owner and the label of its Cluster', () => {
  const { metadata: made } = tenantOf(controlPlane({}), cluster());
  expect(made).toMatchObject({
    name: 'cp',
    namespace: 'n',
    labels: { 'cluster.x-k8s.io/cluster-name': 'c' },
    ownerReferences: [{ kind: 'KamajiControlPlane', name: 'cp', uid: 'u', controller: true }],
  });
});
