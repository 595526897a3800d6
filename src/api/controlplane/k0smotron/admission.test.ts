import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../../machinery/index.ts';
import { created, defaulted, make, strategyOf, updated } from '../../admission.test-support.ts';

const plane = (spec: JsonObject, status?: JsonObject): UnstructuredObject =>
  make('K0smotronControlPlane', spec, {}, status);
const refused = (spec: JsonObject): string[] => created(defaulted(plane(spec)));
const version = 'v1.32.6+k0s.0';

describe('a K0smotronControlPlane', () => {
  it.each<JsonObject>([
    {},
    { version },
    { version: '1.32.6' },
    { image: 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0' },
    { image: 'ghcr.io/team/k0s:nightly', version },
    { replicas: 0, version },
    { replicas: 2, version },
    { version, externalAddress: '192.0.2.4' },
    { version, service: { type: 'LoadBalancer', apiPort: 6443, konnectivityPort: 8132 } },
    { version: 'v1.34.1', ingress: { apiHost: 'a.example.org', konnectivityHost: 'k.example.org' } },
    { version, storage: { type: 'nats' }, replicas: 3 },
    { version, storage: { type: 'kine', kine: { dataSourceSecretName: 'db' } } },
    { version, k0sConfig: { spec: { api: { sans: ['example.org'] }, network: { podCIDR: '10.0.0.0/8' } } } },
    { version, patches: [{ target: { kind: 'Service', component: 'x' }, patch: { type: 'merge', content: 'a: 1' } }] },
  ])('accepts %j', (spec) => {
    expect(refused(spec)).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [{ version: 'latest' }, 'spec.version: Invalid value: "latest": must be a version of k0s, e.g. v1.32.6+k0s.0'],
    [
      { image: 'k0s:nightly' },
      'spec.version: Required value: spec.image names nightly, which does not say a version of k0s',
    ],
    [
      { image: 'Not An Image', version },
      'spec.image: Invalid value: "Not An Image": must be the name of an image, e.g. registry.example.com/team/image',
    ],
    [
      { version, replicas: -1 },
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0; 0 hibernates the control plane',
    ],
    [
      { version, service: { type: 'ClusterIP', apiPort: 0 } },
      'spec.service.apiPort: Invalid value: 0: must be between 1 and 65535, inclusive',
    ],
    [
      { version, service: { type: 'ClusterIP', apiPort: 30132 } },
      'spec.service.konnectivityPort: Invalid value: 30132: must not be the same as apiPort',
    ],
    [
      { version, service: { type: 'NodePort', apiPort: 6443 } },
      'spec.service.apiPort: Invalid value: 6443: must be a node port: 30000 to 32767',
    ],
    [
      { version, externalAddress: 'https://example.org' },
      'spec.externalAddress: Invalid value: "https://example.org": must be a DNS name or an IP address',
    ],
    [
      { version, ingress: { apiHost: 'a.example.org', konnectivityHost: 'k.example.org' } },
      'spec.ingress: Forbidden: needs k0s v1.34.1 or later, not v1.32.6+k0s.0',
    ],
    [
      { version, persistence: { type: 'tape' } },
      'spec.persistence.type: Unsupported value: "tape": supported values: "emptyDir", "hostPath", "pvc"',
    ],
    [{ version, persistence: { type: 'hostPath' } }, 'spec.persistence.hostPath: Required value: with type hostPath'],
    [
      { version, storage: { type: 'kine' } },
      'spec.storage.kine: Required value: with type kine, dataSourceURL or dataSourceSecretName',
    ],
    [
      { version, storage: { type: 'etcd', etcd: { defragJob: { enabled: true, rule: 'dbSize > much' } } } },
      'spec.storage.etcd.defragJob.rule: Invalid value: "dbSize > much": refers to much, which is none of dbSize, dbSizeInUse, dbSizeFree, dbQuota, dbQuotaUsage',
    ],
    [
      { version, storage: { type: 'nats' }, replicas: 2 },
      'spec.replicas: Invalid value: 2: must be odd with storage of type nats: half of them is no quorum',
    ],
    [{ version, mounts: [{ path: '/a' }, { path: '/a' }] }, 'spec.mounts[1].path: Duplicate value: "/a"'],
    [
      { version, patches: [{ target: { kind: 'Service', component: 'x' }, patch: { type: 'json', content: 'a: 1' } }] },
      'spec.patches[0].patch.content: Invalid value: "a: 1": must be a list of operations as in RFC 6902',
    ],
  ])('refuses %j', (spec, problem) => {
    expect(refused(spec)).toEqual([problem]);
  });
});

describe('the k0s configuration of a K0smotronControlPlane', () => {
  const config = (spec: JsonObject): string[] => refused({ version, k0sConfig: { spec } });

  it('is refused unless it is a ClusterConfig of k0s', () => {
    expect(refused({ version, k0sConfig: { apiVersion: 'v1', kind: 'ConfigMap' } })).toEqual([
      'spec.k0sConfig.apiVersion: Unsupported value: "v1": supported values: "k0s.k0sproject.io/v1beta1"',
      'spec.k0sConfig.kind: Unsupported value: "ConfigMap": supported values: "ClusterConfig"',
    ]);
  });

  it('is refused with invalid ranges and invalid certificate names', () => {
    expect(config({ network: { podCIDR: '10.0.0.0' }, api: { sans: ['a b'] } })).toEqual([
      'spec.k0sConfig.spec.api.sans[0]: Invalid value: "a b": must be a DNS name or an IP address',
      'spec.k0sConfig.spec.network.podCIDR: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ]);
  });

  it('is refused with charts that cannot be installed', () => {
    const charts = [
      { name: 'a', chartname: 'r/a', namespace: 'x', values: 'a: [1' },
      { name: 'a', chartname: '', namespace: 'x', values: 'text' },
      { name: 'b', chartname: 'r/b', namespace: 'x', values: { a: 1 } },
    ];
    const path = 'spec.k0sConfig.spec.extensions.helm.charts';
    const problems = config({ extensions: { helm: { charts } } });
    expect(problems.slice(0, 2)).toEqual([
      `${path}[1].chartname: Required value`,
      `${path}[1].name: Duplicate value: "a"`,
    ]);
    expect(problems[2]).toMatch(/charts\[0\]\.values: Invalid value: "a: \[1": must be YAML: /);
    expect(problems[3]).toBe(`${path}[1].values: Invalid value: "text": must be a YAML object`);
    expect(problems[4]).toMatch(/charts\[2\]\.values: .*must be a text with YAML in it/);
  });

  it.each(['api', 'network', 'extensions'])('is refused when %s is not an object', (name) => {
    expect(config({ [name]: 'text' })).toEqual([
      `spec.k0sConfig.spec.${name}: Invalid value: "text": must be an object`,
    ]);
  });
});

describe('an update of a K0smotronControlPlane', () => {
  const change = (spec: JsonObject, old: JsonObject, status?: JsonObject): string[] =>
    updated(plane(spec, status), plane(old, status));

  it('may go up one minor version, whether version or image names it', () => {
    const image = 'k0s:v1.32.6-k0s.0';
    expect(change({ version: 'v1.33.0' }, { image }, { version: 'v1.32.6+k0s.0' })).toEqual([]);
    expect(change({ version: 'v1.34.0' }, { image })).toEqual([
      'spec.version: Forbidden: cannot go from v1.32.6 to v1.34.0: minor versions cannot be skipped, go to v1.33 first',
    ]);
    expect(change({ image: 'k0s:v1.31.0-k0s.0' }, { image }, { version: 'v1.32.6+k0s.0' })).toEqual([
      'spec.image: Forbidden: cannot go back to v1.31.0: the control plane runs v1.32.6 already',
    ]);
  });

  it('is refused when it changes the storage type, or the replicas with nats storage', () => {
    expect(change({ version, storage: { type: 'nats' } }, { version })).toEqual([
      'spec.storage.type: Forbidden: cannot be changed from etcd: the data would stay behind',
    ]);
    const nats = { version, storage: { type: 'nats' } };
    expect(change({ ...nats, replicas: 3 }, { ...nats, replicas: 1 })).toEqual([
      'spec.replicas: Forbidden: cannot be changed with storage of type nats',
    ]);
  });

  it('is accepted when only labels change', () => {
    expect(change({ version: 'broken' }, { version: 'broken' })).toEqual([]);
  });
});

it.each<[JsonObject, string[]]>([
  [{ version }, []],
  [{ version: 'v1.32.6' }, ['spec.version: v1.32.6 has no k0s suffix, k0s.0 is used']],
  [{}, ['spec.version: empty, v1.27.9+k0s.0 is used; name the version of k0s']],
  [{ image: 'k0s:v1.32.6-k0s.0' }, []],
  [{ image: 'k0s:v1.32.6-k0s.0', version }, []],
  [
    { image: 'k0s:v1.31.0-k0s.0', version },
    ['spec.image: the tag v1.31.0-k0s.0 is not used, because spec.version says v1.32.6+k0s.0'],
  ],
])('%j is accepted by K0smotronControlPlane with the warnings %j', (spec, warnings) => {
  expect(strategyOf('K0smotronControlPlane').warnings!(plane(spec))).toEqual(warnings);
});

it('K0smotronControlPlaneTemplate refuses what K0smotronControlPlane refuses', () => {
  const template = { template: { spec: { version: 'latest' } } };
  expect(created(make('K0smotronControlPlaneTemplate', template))).toEqual([
    'spec.template.spec.version: Invalid value: "latest": must be a version of k0s, e.g. v1.32.6+k0s.0',
  ]);
});

describe('a JoinTokenRequest', () => {
  it('is refused when expiry is not a duration', () => {
    expect(created(make('JoinTokenRequest', { clusterName: 'c', expiry: 'soon' }))).toEqual([
      'spec.expiry: Invalid value: "soon": must be a duration, e.g. 24h or 90m',
    ]);
  });

  it('refuses a change of spec.clusterName', () => {
    const request = (clusterName: string): UnstructuredObject => make('JoinTokenRequest', { clusterName });
    expect(updated(request('b'), request('a'))).toEqual([
      'spec.clusterName: Forbidden: cannot be changed: the token belongs to its cluster',
    ]);
  });
});
