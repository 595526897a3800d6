import { describe, expect, it } from 'vitest';
import type { Deployment, Service, StatefulSet } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import { k0smotronNaming, shortenedName } from '../naming/index.ts';
import { addressInRange } from '../network.ts';
import type { PlaneSpec } from '../spec.ts';
import { certificateText, factsOf, hostedPlaneSpec, k0smotronPlaneSpec, kamajiPlaneSpec } from '../testing/specs.ts';
import { apiServerArgs, overriddenArguments, retiredArguments } from './component-flags.ts';
import { mergeFlags } from './flags.ts';
import { planeObjects } from './index.ts';
import { k0sConfig, k0sDynamicConfig } from './k0s-config.ts';
import { entryScript, k0sCommand } from './k0s-script.ts';
import { checksumOf } from './metadata.ts';
import { PatchRefusedError } from './patches.ts';

const all = (desired: PlaneSpec, facts: PlaneFacts = factsOf(desired)): KubeObject[] =>
  Object.values(planeObjects(desired, facts)).flat();

function one<T extends KubeObject>(desired: PlaneSpec, kind: string, name: string, facts?: PlaneFacts): T {
  const found = all(desired, facts).find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found as T;
}

/** Checksum of the Pod templates, whose change replaces Pods. */
const templates = (desired: PlaneSpec, facts: PlaneFacts): string =>
  checksumOf(planeObjects(desired, facts).controlPlane.map((object) => (object as Deployment).spec.template));

describe('names', () => {
  it('shortens names that are too long and ends them in a checksum', () => {
    const name = shortenedName(`kmc-${'x'.repeat(80)}`);
    expect(name).toHaveLength(63);
    expect(name).toMatch(/^kmc-x+-[0-9a-f]{5}$/);
    expect(shortenedName('kmc-short')).toBe('kmc-short');
  });

  it('names the Service after its exposure and leaves the kubeconfig name unshortened', () => {
    const long = 'y'.repeat(70);
    expect(k0smotronNaming('c', 'NodePort').apiService).toBe('kmc-c-nodeport');
    expect(k0smotronNaming('c', 'ClusterIP').apiService).toBe('kmc-c');
    expect(k0smotronNaming(long, 'ClusterIP').secrets['cluster-kubeconfig']?.name).toBe(`${long}-kubeconfig`);
  });
});

describe('the endpoint', () => {
  const facts = (more: Partial<PlaneFacts> = {}): PlaneFacts => ({ checksums: new Map(), trust: {}, ...more });
  const exposed = (more: Partial<PlaneSpec['exposure']>): PlaneSpec =>
    k0smotronPlaneSpec({ exposure: { ...k0smotronPlaneSpec().exposure, ...more } });
  const ingress = (entries: readonly object[]): PlaneFacts =>
    facts({ service: { clusterIPs: ['10.0.0.1'], ingress: entries } });

  it.each<[string, PlaneSpec, PlaneFacts, string]>([
    [
      'is the address of the load balancer',
      exposed({}),
      ingress([{ hostname: 'lb.example' }, { ip: '192.0.2.1' }]),
      '192.0.2.1:6443',
    ],
    ['may be a name', exposed({}), ingress([{ hostname: 'lb.example' }]), 'lb.example:6443'],
    ['is waited for', exposed({}), facts(), 'WaitingForLoadBalancer'],
    [
      'stays what was written down',
      exposed({}),
      { ...ingress([{ ip: '192.0.2.1' }]), endpoint: { host: 'a.example', port: 1 } },
      'a.example:1',
    ],
    ['is what the user says', exposed({ address: 'api.example' }), facts(), 'api.example:6443'],
    ['of a node port is a node', exposed({ type: 'NodePort' }), facts({ nodeAddress: '192.0.2.7' }), '192.0.2.7:6443'],
    ['must be given for k0s behind a ClusterIP', exposed({ type: 'ClusterIP' }), facts(), 'AddressMissing'],
    [
      'of an Ingress is its host',
      exposed({ ingress: { deploy: true, host: 'k.example', port: 443 } }),
      facts(),
      'k.example:443',
    ],
    [
      'of a Gateway is below its domain',
      hostedPlaneSpec(),
      factsOf(hostedPlaneSpec()),
      'shop.teams.planes.example.org:443',
    ],
    [
      'of a Gateway that cannot be used is explained',
      hostedPlaneSpec(),
      facts({ gateway: { addresses: [], problem: 'no listener' } }),
      'GatewayNotUsable',
    ],
    [
      'of a tenant may be the cluster IP',
      kamajiPlaneSpec({ exposure: { ...kamajiPlaneSpec().exposure, type: 'ClusterIP' } }),
      ingress([]),
      '10.0.0.1:6443',
    ],
  ])('the endpoint: %s', (_, desired, seen, expected) => {
    const answer = planeEndpoint(desired, seen);
    expect(answer.known ? `${answer.endpoint.host}:${answer.endpoint.port}` : answer.reason).toBe(expected);
  });

  it.each([k0smotronPlaneSpec(), kamajiPlaneSpec(), hostedPlaneSpec()])(
    'makes nothing but the exposure until the endpoint is known ($naming.provider)',
    (desired) => {
      const objects = planeObjects(desired, facts());
      expect(objects.controlPlane).toEqual([]);
      expect(objects.exposure).toHaveLength(1);
    },
  );
});

describe('replacement of Pods', () => {
  it.each([k0smotronPlaneSpec(), kamajiPlaneSpec(), hostedPlaneSpec()])(
    'replaces Pods when a Secret they mount changes, and only then ($naming.provider)',
    (desired) => {
      const facts = factsOf(desired);
      const before = templates(desired, facts);
      expect(templates(desired, factsOf(desired))).toBe(before);
      const changed = new Map(facts.checksums).set(desired.naming.secrets.sa?.name ?? '', 'other');
      expect(templates(desired, { ...facts, checksums: changed })).not.toBe(before);
      const unrelated = new Map(facts.checksums).set('somebody-elses', 'other');
      expect(templates(desired, { ...facts, checksums: unrelated })).toBe(before);
    },
  );

  it('does not replace k0s Pods for settings k0s takes over while it runs', () => {
    const desired = k0smotronPlaneSpec();
    const facts = factsOf(desired);
    const withConfig = (spec: object): PlaneSpec => ({
      ...desired,
      k0s: { ...desired.k0s!, config: { spec } as never },
    });
    const charts = withConfig({ extensions: { helm: { charts: [] } }, network: desired.k0s!.config['spec'] });
    expect(templates(charts, facts)).toBe(templates(desired, facts));
    expect(templates(withConfig({ api: { sans: ['more.example'] } }), facts)).not.toBe(templates(desired, facts));
  });

  it('does not replace Pods when replicas change', () => {
    const desired = hostedPlaneSpec();
    expect(templates({ ...desired, replicas: 5 }, factsOf(desired))).toBe(templates(desired, factsOf(desired)));
  });
});

describe('a hibernated plane', () => {
  it.each([k0smotronPlaneSpec({ replicas: 0 }), kamajiPlaneSpec({ replicas: 0 }), hostedPlaneSpec({ replicas: 0 })])(
    'runs no Pods while hibernated ($naming.provider)',
    (desired) => {
      const objects = planeObjects(desired, factsOf(desired)).controlPlane as Deployment[];
      expect(objects.map(({ spec }) => spec.replicas)).toEqual(objects.map(() => 0));
      expect(objects.length).toBeGreaterThan(0);
    },
  );
});

describe('flags', () => {
  it("put Capstan's flags over the user's, except those that may be chosen, and keep the order of the rest", () => {
    const merged = mergeFlags({ a: '1', b: '2' }, { c: '3', d: '4' }, ['--v=2', '--a=9', '--c=8', '--x', '--x=again']);
    expect(merged.args).toEqual(['--a=1', '--b=2', '--d=4', '--v=2', '--c=8', '--x', '--x=again']);
    expect(merged.overridden).toEqual(['a']);
  });

  it('report the flags of the user that were overridden', () => {
    const desired = hostedPlaneSpec({ components: { apiServer: { args: ['--secure-port=1', '--v=4'] } } });
    expect(overriddenArguments(desired, factsOf(desired))).toEqual({ 'kube-apiserver': ['secure-port'] });
  });

  it.each([kamajiPlaneSpec(), hostedPlaneSpec()])(
    'enable NodeRestriction in every API server ($naming.provider)',
    (desired) => {
      const args = JSON.stringify(planeObjects(desired, factsOf(desired)).controlPlane);
      expect(args).toMatch(/--enable-admission-plugins=[^"]*NodeRestriction/);
    },
  );
});

describe('k0s', () => {
  it('gets what a hosted plane needs over what the user says', () => {
    const desired = k0smotronPlaneSpec({
      k0s: {
        ...k0smotronPlaneSpec().k0s!,
        config: { spec: { api: { port: 1, sans: ['my.example'] }, storage: { type: 'kine' } } },
      },
    });
    const { api, storage, network } = k0sConfig(desired, factsOf(desired))['spec'] as Record<
      string,
      Record<string, unknown>
    >;
    expect(api).toMatchObject({ port: 6443, externalAddress: '203.0.113.9' });
    expect(api!['sans']).toEqual(expect.arrayContaining(['my.example', '203.0.113.9', 'kmc-openstack-hcp-cluster-lb']));
    expect(storage).toMatchObject({ type: 'etcd' });
    expect(network).toEqual({ podCIDR: '10.244.0.0/16', serviceCIDR: '10.96.0.0/12', clusterDomain: 'cluster.local' });
  });

  it('keeps the networks the user chose', () => {
    const desired = k0smotronPlaneSpec({
      network: { serviceCidrs: ['10.1.0.0/16'], podCidrs: ['10.2.0.0/16'], domain: 'other' },
    });
    const { network } = k0sConfig(desired, factsOf(desired))['spec'] as Record<string, Record<string, unknown>>;
    expect(network).toMatchObject({ podCIDR: '10.244.0.0/16', serviceCIDR: '10.96.0.0/12', clusterDomain: 'other' });
  });

  it('leaves out of the dynamic configuration what only a start decides', () => {
    const desired = k0smotronPlaneSpec();
    const { spec } = k0sDynamicConfig(desired, factsOf(desired)) as { spec: Record<string, unknown> };
    expect(Object.keys(spec)).not.toContain('storage');
    expect(Object.keys(spec)).toContain('extensions');
  });

  it('trusts both authorities while one replaces the other', () => {
    const desired = k0smotronPlaneSpec();
    const facts = factsOf(desired, { trust: { ca: certificateText('new') + certificateText('old') } });
    expect(k0sConfig(desired, facts)).toMatchObject({
      spec: { api: { extraArgs: { 'client-ca-file': '/var/lib/k0s/pki/ca-bundle.crt' } } },
    });
    const set = one<StatefulSet>(desired, 'StatefulSet', 'kmc-openstack-hcp-cluster', facts);
    expect(JSON.stringify(set.spec.template)).toContain('ca-bundle.crt');
  });

  it('starts with the flags of the user and those it needs', () => {
    expect(k0sCommand(k0smotronPlaneSpec())).toEqual([
      'k0s',
      'controller',
      '--enable-cloud-provider=true',
      '--debug=true',
      '--config=/etc/k0s/k0s.yaml',
      '--enable-dynamic-config',
    ]);
    const own = k0smotronPlaneSpec({
      k0s: { ...k0smotronPlaneSpec().k0s!, flags: ['--config=/mine.yaml', "--labels=a b'c"] },
    });
    expect(k0sCommand(own)).not.toContain('--config=/etc/k0s/k0s.yaml');
    expect(entryScript(own)).toContain(`'--labels=a b'\\''c'`);
  });

  it('learns the address of its database when it starts', () => {
    const desired = k0smotronPlaneSpec({
      dataStore: { kind: 'k0s', source: { type: 'kine-secret', secretName: 'db' } },
    });
    const set = one<StatefulSet>(desired, 'StatefulSet', 'kmc-openstack-hcp-cluster');
    expect(set.spec.template?.spec?.containers[0]?.envFrom).toContainEqual({ secretRef: { name: 'db' } });
    expect(entryScript(desired)).toContain('sed -i');
    expect(planeObjects(desired, factsOf(desired)).etcd).toEqual([]);
  });
});

describe('flags that newer API servers no longer know', () => {
  const args = ['--cloud-provider=external', '--cloud-config', '/etc/cloud.conf', '--v=2'];

  it.each([
    ['v1.28.15', true],
    ['v1.32.9', true],
    ['v1.33.0', false],
    ['v1.35.1', false],
  ])('are handed to an API server of %s: %s', (version, isKept) => {
    const desired = hostedPlaneSpec({ version, components: { apiServer: { args } } });
    const kept = apiServerArgs(desired, factsOf(desired)).args;
    expect(kept).toContain('--v=2');
    expect(kept.includes('--cloud-provider=external')).toBe(isKept);
    expect(kept.includes('/etc/cloud.conf')).toBe(isKept);
    expect(retiredArguments(desired, factsOf(desired))).toEqual(isKept ? [] : ['cloud-provider', 'cloud-config']);
  });

  it('are not handed on by k0s either', () => {
    const config = { spec: { api: { extraArgs: { 'cloud-provider': 'external', v: '2' } } } };
    const desired = k0smotronPlaneSpec({ version: 'v1.33.1+k0s.0' });
    const with33 = { ...desired, k0s: { ...desired.k0s!, config } };
    const argsOf = (one: PlaneSpec) => JSON.stringify(k0sConfig(one, factsOf(one))['spec']);
    expect(argsOf(with33)).not.toContain('cloud-provider');
    expect(argsOf({ ...with33, version: 'v1.32.6+k0s.0' })).toContain('cloud-provider');
    expect(retiredArguments(with33, factsOf(with33))).toEqual(['cloud-provider']);
  });
});

describe('patches of the user', () => {
  const patched = (type: 'json' | 'merge' | 'strategic', content: string, kind = 'Service'): PlaneSpec =>
    k0smotronPlaneSpec({ patches: [{ kind, component: 'control-plane', type, content }] });
  const service = (desired: PlaneSpec): Service => one<Service>(desired, 'Service', 'kmc-openstack-hcp-cluster-lb');

  it.each([
    ['merge', 'metadata: {annotations: {a: b}}'],
    ['strategic', 'metadata: {annotations: {a: b}}'],
    ['json', '[{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}]'],
  ] as const)('change the Service (%s)', (type, content) => {
    const changed = service(patched(type, content));
    expect(changed.metadata.annotations).toEqual({ a: 'b' });
    expect(changed.spec.ports).toHaveLength(2);
  });

  it('merge containers by name', () => {
    const content = 'spec: {template: {spec: {containers: [{name: controller, resources: {limits: {cpu: "2"}}}]}}}';
    const set = one<StatefulSet>(
      patched('strategic', content, 'StatefulSet'),
      'StatefulSet',
      'kmc-openstack-hcp-cluster',
    );
    expect(set.spec.template?.spec?.containers).toMatchObject([
      { name: 'controller', resources: { limits: { cpu: '2' } }, args: expect.any(Array) },
    ]);
  });

  it.each([
    ['json', '[{"op":"remove","path":"/spec/none"}]'],
    ['json', 'no list'],
    ['merge', 'metadata: {name: other}'],
    ['merge', 'metadata: {namespace: other}'],
    ['json', '[{"op":"remove","path":"/metadata/namespace"}]'],
    ['strategic', 'metadata: {namespace: other}'],
    ['merge', 'kind: Secret'],
    ['merge', 'apiVersion: other/v1'],
    ['merge', 'a: [1'],
  ] as const)('are refused with their place when they cannot be applied (%s %s)', (type, content) => {
    expect(() => service(patched(type, content))).toThrow(PatchRefusedError);
    expect(() => service(patched(type, content))).toThrow(/spec\.patches\[0\]/);
  });
});

describe('exposure', () => {
  it('makes the second Service once the address is known, with a class no load balancer serves', () => {
    const desired = k0smotronPlaneSpec();
    const { spec } = one<Service>(desired, 'Service', 'openstack-hcp-cluster-cp');
    expect(spec).toMatchObject({ type: 'LoadBalancer', loadBalancerClass: expect.any(String) });
    const waiting = factsOf(desired, { service: { clusterIPs: [], ingress: [] } });
    expect(planeObjects(desired, waiting).exposure).toHaveLength(1);
  });

  it('uses the node ports that were asked for', () => {
    const desired = k0smotronPlaneSpec({
      exposure: { type: 'NodePort', apiPort: 30443, konnectivityPort: 30132, sans: [], address: 'n.example' },
      naming: k0smotronNaming('openstack-hcp-cluster', 'NodePort'),
    });
    expect(one<Service>(desired, 'Service', 'kmc-openstack-hcp-cluster-nodeport').spec.ports).toMatchObject([
      { nodePort: 30443 },
      { nodePort: 30132 },
    ]);
  });

  it('leads two hosts to the Service by Ingress and puts a proxy on every node', () => {
    const desired = k0smotronPlaneSpec({
      exposure: {
        type: 'ClusterIP',
        apiPort: 6443,
        konnectivityPort: 8132,
        sans: [],
        ingress: { deploy: true, host: 'api.example', konnectivityHost: 'konn.example', port: 443, className: 'nginx' },
      },
    });
    expect(one<KubeObject>(desired, 'Ingress', 'kmc-openstack-hcp-cluster')).toMatchObject({
      spec: { ingressClassName: 'nginx', rules: [{ host: 'api.example' }, { host: 'konn.example' }] },
    });
    expect(JSON.stringify(one(desired, 'ConfigMap', 'kmc-openstack-hcp-cluster-ingress'))).toContain(
      'k0smotron-haproxy',
    );
    expect(k0sConfig(desired, factsOf(desired))).toMatchObject({
      spec: { api: { externalAddress: 'api.example:443' }, konnectivity: { externalAddress: 'konn.example' } },
    });
  });
});

describe('a tenant with a database', () => {
  it('puts kine between the API server and the database', () => {
    const desired = kamajiPlaneSpec({
      dataStore: { kind: 'kine', driver: 'PostgreSQL', endpoints: ['db:5432'], schema: 's', user: 'u', tls: true },
    });
    const { spec } = one<Deployment>(desired, 'Deployment', 'kamaji-quickstart-control-plane').spec.template!;
    const kine = spec!.containers.find(({ name }) => name === 'kine');
    expect(kine?.args).toContain(
      '--endpoint=postgres://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)/$(DB_SCHEMA)',
    );
    expect(spec!.containers[0]?.args).toContain('--etcd-servers=unix:///uds/kine');
    expect(spec!.initContainers).toHaveLength(1);
  });
});

describe('addresses', () => {
  it.each([
    ['10.96.0.0/12', 1, '10.96.0.1'],
    ['10.96.0.0/12', 10, '10.96.0.10'],
    ['10.96.3.7/16', 300, '10.96.1.44'],
    ['fd00:10:96::/112', 10, 'fd00:10:96::a'],
  ])('addressInRange of %s at %d is %s', (cidr, place, address) => {
    expect(addressInRange(cidr, place)).toBe(address);
  });
});

describe('the containers of a hardened plane', () => {
  it('drop all capabilities but the one the kube-apiserver binary needs to start', () => {
    const desired = hostedPlaneSpec();
    const { template } = one<Deployment>(desired, 'Deployment', desired.naming.controlPlane).spec;
    const containers = template?.spec?.containers ?? [];
    const capabilities = containers.map(({ name, securityContext }) => [name, securityContext?.capabilities]);
    const none = { drop: ['ALL'] };
    expect(Object.fromEntries(capabilities)).toEqual({
      'kube-apiserver': { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      'konnectivity-server': none,
      'kube-controller-manager': none,
      'kube-scheduler': none,
    });
  });
});
