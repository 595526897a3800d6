import { describe, expect, it } from 'vitest';
import type { Cluster, K0smotronClusterSpec } from '../../../api/index.ts';
import type { PlaneSpec } from '../../../hosting/index.ts';
import { k0smotronPlaneSpec } from './spec.ts';
import { guideSpec } from './testing/k0smotron-world.ts';

const owner = { apiVersion: 'k0smotron.io/v1beta2', kind: 'Cluster', name: 'c1', uid: 'u1', controller: true };

function desiredOf(spec: K0smotronClusterSpec, cluster?: Cluster): PlaneSpec {
  const input = { namespace: 'ns', clusterName: 'c1', spec, owner, metadata: {}, ...(cluster && { cluster }) };
  const result = k0smotronPlaneSpec(input);
  if ('problem' in result) throw new Error(result.problem.message);
  return result.desired;
}

const cluster = (clusterNetwork: NonNullable<Cluster['spec']['clusterNetwork']>): Cluster => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'c1', namespace: 'ns' },
  spec: { clusterNetwork },
});

describe('the spec of a K0smotronControlPlane', () => {
  it('of the guide gives version and image from one tag, one etcd member and its ports', () => {
    const desired = desiredOf(guideSpec);
    expect(desired).toMatchObject({
      layout: 'k0s',
      version: 'v1.32.6+k0s.0',
      replicas: 1,
      images: { k0s: 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0', etcd: 'quay.io/k0sproject/etcd:v3.5.13' },
      dataStore: { kind: 'own-etcd', members: 1, storage: { size: '1Gi' }, deleteVolumes: false },
      exposure: { type: 'LoadBalancer', apiPort: 6443, konnectivityPort: 8132 },
      network: { podCidrs: ['10.244.0.0/16'], serviceCidrs: ['10.96.0.0/12'], domain: 'cluster.local' },
      k0s: { flags: ['--enable-cloud-provider=true', '--debug=true'], persistence: { type: 'emptyDir' } },
    });
    expect(desired.naming.apiService).toBe('kmc-c1-lb');
  });

  it.each<[K0smotronClusterSpec, string, string]>([
    [{}, 'v1.27.9+k0s.0', 'quay.io/k0sproject/k0s:v1.27.9-k0s.0'],
    [{ version: 'v1.33.1' }, 'v1.33.1+k0s.0', 'quay.io/k0sproject/k0s:v1.33.1-k0s.0'],
    [{ version: '1.33.1-k0s.2' }, 'v1.33.1+k0s.2', 'quay.io/k0sproject/k0s:v1.33.1-k0s.2'],
    [{ image: 'r.example:5000/k0s', version: 'v1.33.1+k0s.1' }, 'v1.33.1+k0s.1', 'r.example:5000/k0s:v1.33.1-k0s.1'],
  ])('%j runs %s from %s', (spec, version, image) => {
    expect(desiredOf(spec)).toMatchObject({ version, images: { k0s: image } });
  });

  it.each([
    [1, 1],
    [2, 3],
    [3, 3],
    [4, 5],
    [9, 5],
  ])('%i replicas have %i etcd members', (replicas, members) => {
    expect(desiredOf({ replicas }).dataStore).toMatchObject({ members });
  });

  it('takes networks from the Cluster when the k0s configuration has none', () => {
    const of = cluster({
      pods: { cidrBlocks: ['10.1.0.0/16'] },
      services: { cidrBlocks: ['10.2.0.0/16'] },
      serviceDomain: 'a.example',
    });
    const k0sConfig = { apiVersion: 'k0s.k0sproject.io/v1beta1', spec: { network: { podCIDR: '10.9.0.0/16' } } };
    expect(desiredOf({ k0sConfig }, of).network).toEqual({
      podCidrs: ['10.9.0.0/16'],
      serviceCidrs: ['10.2.0.0/16'],
      domain: 'a.example',
    });
  });

  it('recognizes certificates brought by the user in certificateRefs', () => {
    const certificateRefs: K0smotronClusterSpec['certificateRefs'] = [
      { type: 'ca', name: 'c1-ca' },
      { type: 'proxy', name: 'c1-proxy' },
      { type: 'etcd', name: 'my-etcd-ca' },
      { type: 'sa' },
    ];
    expect(desiredOf({ certificateRefs }).certificates.external).toEqual({ 'etcd-ca': 'my-etcd-ca' });
  });

  it('passes on the annotations of Service and Ingress', () => {
    const desired = desiredOf({
      version: 'v1.34.2',
      service: { type: 'LoadBalancer', annotations: { a: 'b' }, loadBalancerClass: 'octavia' },
      ingress: { apiHost: 'kube.example', konnectivityHost: 'konn.example', annotations: { c: 'd' } },
    });
    expect(desired.exposure).toMatchObject({
      apiPort: 30443,
      konnectivityPort: 30132,
      metadata: { annotations: { a: 'b' } },
      loadBalancerClass: 'octavia',
      ingress: {
        deploy: true,
        host: 'kube.example',
        konnectivityHost: 'konn.example',
        port: 443,
        metadata: { annotations: { c: 'd' } },
      },
    });
  });

  it.each<[string, K0smotronClusterSpec, object]>([
    [
      'an address',
      { storage: { type: 'kine', kine: { dataSourceURL: 'postgres://x' } } },
      { type: 'kine', url: 'postgres://x' },
    ],
    [
      'a Secret',
      { storage: { type: 'kine', kine: { dataSourceSecretName: 's' } } },
      { type: 'kine-secret', secretName: 's' },
    ],
    ['NATS', { storage: { type: 'nats' } }, { type: 'nats', size: '1Gi' }],
  ])('stores data by %s', (_, spec, source) => {
    expect(desiredOf(spec).dataStore).toEqual({ kind: 'k0s', source });
  });

  it('reads the defragmentation schedule and rule', () => {
    const defragJob = {
      enabled: true,
      schedule: '0 12 * * *',
      rule: 'dbQuotaUsage > 0.8 || dbSize - dbSizeInUse > 200*1024*1024',
      image: 'x',
    };
    const etcd = { image: 'etcd:v3.5.13', defragJob };
    expect(desiredOf({ storage: { type: 'etcd', etcd } }).dataStore).toMatchObject({
      defragment: { schedule: '0 12 * * *', rule: defragJob.rule },
    });
  });

  it('mounts ConfigMaps and Secrets read-only', () => {
    const mounts = [
      { path: '/a', configMap: { name: 'm' } },
      { path: '/b', emptyDir: {} },
    ];
    expect(desiredOf({ mounts }).k0s?.mounts).toEqual([
      { path: '/a', readOnly: true, source: { configMap: { name: 'm' } } },
      { path: '/b', readOnly: false, source: { emptyDir: {} } },
    ]);
  });
});
