import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../../machinery/index.ts';
import { created, defaulted, make, refusedBySchema, updated } from '../../admission.test-support.ts';

const version = '1.33.1';
const plane = (spec: JsonObject, status?: JsonObject): UnstructuredObject =>
  make('KamajiControlPlane', spec, {}, status);

describe('a KamajiControlPlane', () => {
  it.each<JsonObject>([
    { version },
    { version: 'v1.33.1', replicas: 0 },
    { version, controlPlaneEndpoint: {} },
    { version, controlPlaneEndpoint: { host: '', port: 0 } },
    { version, network: { certSANs: ['a.example.org', '192.0.2.1'], ingress: { hostname: 'a.example.org:8443' } } },
  ])('accepts %j', (spec) => {
    const object = defaulted(plane(spec));
    expect(refusedBySchema(object)).toEqual([]);
    expect(created(object)).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [{ version: 'new' }, 'spec.version: Invalid value: "new": must be a valid semantic version, e.g. v1.33.1'],
    [
      { version, replicas: -2 },
      'spec.replicas: Invalid value: -2: must be greater than or equal to 0; 0 hibernates the control plane',
    ],
    [
      { version, network: { certSANs: ['a:6443'] } },
      'spec.network.certSANs[0]: Invalid value: "a:6443": must be a DNS name or an IP address, without scheme, port or path',
    ],
    [
      { version, network: { dnsServiceIPs: ['x'] } },
      'spec.network.dnsServiceIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [
      { version, network: { ingress: { hostname: 'a' }, gateway: { name: 'g', namespace: 'n', hostname: 'a' } } },
      'spec.network.gateway: Forbidden: cannot be used together with ingress',
    ],
  ])('refuses %j', (spec, problem) => {
    expect(created(defaulted(plane(spec)))).toEqual([problem]);
  });

  it('may go up one minor version at a time and never back', () => {
    const change = (wanted: string, running: string): string[] =>
      updated(plane({ version: wanted }), plane({ version }, { version: running }));
    expect(change('v1.34.0', 'v1.33.1')).toEqual([]);
    expect(change('v1.35.0', 'v1.33.1')).toHaveLength(1);
    expect(change('v1.32.0', 'v1.33.1')).toHaveLength(1);
  });
});

describe('a TenantControlPlane', () => {
  const tenant = (network: JsonObject, serviceType = 'LoadBalancer'): UnstructuredObject =>
    defaulted(
      make('TenantControlPlane', {
        kubernetes: { version, kubelet: {} },
        controlPlane: { service: { serviceType } },
        networkProfile: network,
      }),
    );

  it('is accepted with its defaults', () => {
    const object = tenant({});
    expect(refusedBySchema(object)).toEqual([]);
    expect(created(object)).toEqual([]);
  });

  it('is refused with a DNS address outside of its Service ranges', () => {
    expect(created(tenant({ dnsServiceIPs: ['10.96.0.10'] }))).toEqual([]);
    expect(created(tenant({ dnsServiceIPs: ['10.97.0.10'] }))).toEqual([
      'spec.networkProfile.dnsServiceIPs[0]: Invalid value: "10.97.0.10": must lie in a service range: 10.96.0.0/16',
    ]);
    expect(created(tenant({ serviceCidrs: ['10.0.0.0/16', 'fd00::/108'], dnsServiceIPs: ['fd00::a'] }))).toEqual([]);
  });

  it('needs an address and a node port with a Service of type NodePort', () => {
    expect(created(tenant({ address: '192.0.2.1', port: 31443 }, 'NodePort'))).toEqual([]);
    expect(created(tenant({}, 'NodePort'))).toEqual([
      'spec.networkProfile.address: Required value: with a Service of type NodePort, an address of the nodes',
      'spec.networkProfile.port: Invalid value: 6443: must be a node port with a Service of type NodePort: 30000 to 32767',
    ]);
  });

  it('is refused by the same schema rules as upstream', () => {
    expect(refusedBySchema(tenant({ loadBalancerClass: 'x' }, 'ClusterIP'))).toEqual([
      'spec: Invalid value: "object": LoadBalancerClass is supported only with LoadBalancer service type',
    ]);
    expect(refusedBySchema(tenant({ podCidr: 'x' }))).toEqual([
      'spec.networkProfile.podCidr: Invalid value: "string": podCidr must be empty or a valid CIDR',
    ]);
  });
});

describe('a DataStore', () => {
  const content = { content: 'eA==' };
  const tlsConfig = {
    certificateAuthority: { certificate: content, privateKey: content },
    clientCertificate: { certificate: content, privateKey: content },
  };
  const store = (spec: JsonObject): UnstructuredObject =>
    make('DataStore', { endpoints: ['etcd-0.etcd:2379'], ...spec });

  it('with driver etcd needs an authority and a client certificate', () => {
    expect(refusedBySchema(store({ driver: 'etcd', tlsConfig }))).toEqual([]);
    const { clientCertificate: _, ...authority } = tlsConfig;
    expect(refusedBySchema(store({ driver: 'etcd', tlsConfig: authority }))).not.toEqual([]);
  });

  it('with an SQL driver needs basicAuth or tlsConfig', () => {
    expect(refusedBySchema(store({ driver: 'MySQL', basicAuth: { username: content, password: content } }))).toEqual(
      [],
    );
    expect(refusedBySchema(store({ driver: 'MySQL' }))).toEqual([
      'spec: Invalid value: "object": When driver is not etcd, either tlsConfig or basicAuth must be provided',
    ]);
  });

  it.each(['https://etcd:2379', 'etcd', 'etcd:99999', 'et cd:1'])('refuses the endpoint %j', (endpoint) => {
    expect(created(make('DataStore', { driver: 'etcd', endpoints: [endpoint] }))).toHaveLength(1);
  });

  it.each(['etcd:2379', '192.0.2.1:2379', '[2001:db8::1]:2379'])('accepts the endpoint %j', (endpoint) => {
    expect(created(make('DataStore', { driver: 'etcd', endpoints: [endpoint] }))).toEqual([]);
  });
});
