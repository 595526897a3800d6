import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../machinery/index.ts';
import { context, created, make, refusedBySchema, strategyOf, updated } from '../admission.test-support.ts';

const identityRef = { name: 's', cloudName: 'c', type: 'Secret' };
const provisioned = { initialization: { provisioned: true } };
const contains = (texts: readonly string[]): unknown[] => texts.map((text) => expect.stringContaining(text));

describe('the network settings of an OpenStackCluster', () => {
  it.each<[string, JsonObject, string[]]>([
    [
      'ranges that overlap',
      { managedSubnets: [{ cidr: '10.6.0.0/16' }, { cidr: '10.6.1.0/24' }, { cidr: 'fd00::/64' }] },
      ['spec.managedSubnets[1].cidr: Invalid value: "10.6.1.0/24": overlaps with 10.6.0.0/16'],
    ],
    ['one range twice', { managedSubnets: [{ cidr: '10.6.0.0/24' }, { cidr: '10.6.0.5/24' }] }, ['overlaps with']],
    [
      'what is no range',
      { managedSubnets: [{ cidr: '10.6.0.0', dnsNameservers: ['dns'] }] },
      [
        'spec.managedSubnets[0].cidr: Invalid value: "10.6.0.0": invalid CIDR address: 10.6.0.0',
        'spec.managedSubnets[0].dnsNameservers[0]: Invalid value: "dns": not a valid IP address',
      ],
    ],
    [
      'pools outside of their range or the wrong way round',
      {
        managedSubnets: [
          {
            cidr: '10.6.0.0/24',
            allocationPools: [
              { start: '10.6.0.10', end: '10.6.1.20' },
              { start: '10.6.0.20', end: '10.6.0.10' },
            ],
          },
        ],
      },
      [
        'spec.managedSubnets[0].allocationPools[0].end: Invalid value: "10.6.1.20": is not in 10.6.0.0/24',
        'spec.managedSubnets[0].allocationPools[1].end: Invalid value: "10.6.0.10": must not be before start 10.6.0.20',
      ],
    ],
    [
      'addresses that are none',
      {
        apiServer: { fixedIP: 'x', floatingIP: 'y', managedLoadBalancer: { allowedCIDRs: ['10.0.0.1', 'z'] } },
        bastion: { floatingIP: 'w' },
      },
      [
        'spec.apiServer.fixedIP',
        'spec.apiServer.floatingIP',
        'spec.apiServer.managedLoadBalancer.allowedCIDRs[1]',
        'spec.bastion.floatingIP',
      ],
    ],
    [
      'rules that are none',
      {
        managedSecurityGroups: {
          allowAllInClusterTraffic: true,
          workerNodesSecurityGroupRules: [
            { name: 'r', direction: 'ingress', remoteIPPrefix: '10.0.0', portRangeMin: 2, portRangeMax: 1 },
          ],
        },
      },
      [
        'spec.managedSecurityGroups.workerNodesSecurityGroupRules[0].remoteIPPrefix',
        'spec.managedSecurityGroups.workerNodesSecurityGroupRules[0].portRangeMax',
      ],
    ],
    ['empty addresses, which are absent ones', { apiServer: { fixedIP: '', floatingIP: '' } }, []],
  ])('are checked: %s', (_, spec, expected) => {
    expect(created(make('OpenStackCluster', { identityRef, ...spec }))).toEqual(contains(expected));
    const template = make('OpenStackClusterTemplate', { template: { spec: { identityRef, ...spec } } });
    expect(created(template)).toEqual(contains(expected.map((text) => text.replace(/^spec\./, 'spec.template.spec.'))));
  });
});

describe('an OpenStackClusterTemplate', () => {
  const template = (spec: JsonObject, metadata?: JsonObject): UnstructuredObject =>
    make('OpenStackClusterTemplate', {
      template: { spec: { identityRef, ...spec }, ...(metadata ? { metadata } : {}) },
    });

  it('refuses a changed spec and accepts changed metadata', () => {
    expect(updated(template({}, { labels: { a: 'b' } }), template({}))).toEqual([]);
    expect(updated(template({ tags: ['x'] }), template({}))).toEqual(
      contains(['OpenStackClusterTemplate spec.template.spec field is immutable']),
    );
  });

  it('accepts a changed spec in a dry run of the topology controller', () => {
    const asked = template({ tags: ['x'] });
    asked.metadata.annotations = { 'topology.cluster.x-k8s.io/dry-run': '' };
    expect(updated(asked, template({}), { dryRun: true })).toEqual([]);
  });
});

describe('the API address of an OpenStackCluster that was left empty', () => {
  const endpoint = { host: '192.0.2.7', port: 6443 };
  const cluster = (fixedIP: string, more: JsonObject = {}): UnstructuredObject =>
    make(
      'OpenStackCluster',
      { identityRef, apiServer: { enableFloatingIP: false, fixedIP }, ...more },
      {},
      provisioned,
    );
  const filledIn = cluster('192.0.2.7', { controlPlaneEndpoint: endpoint });

  it('may be filled in, and is kept when the manifest is applied again', () => {
    expect(updated(filledIn, cluster(''))).toEqual([]);
    const again = cluster('', { controlPlaneEndpoint: endpoint });
    strategyOf(again.kind).prepareForUpdate!(again, filledIn, context);
    expect(again.spec).toEqual(filledIn.spec);
    expect(updated(again, filledIn)).toEqual([]);
  });

  it.each([
    ['', {}],
    ['192.0.2.8', { apiServerFixedIP: '192.0.2.8', apiServer: { fixedIP: '192.0.2.8' } }],
  ])('is not claimed by a server-side apply of "%s" only if that is empty', (fixedIP, claimed) => {
    const applied = make('OpenStackCluster', { apiServerFixedIP: fixedIP, apiServer: { fixedIP } });
    strategyOf(applied.kind).prepareForApply!(applied, filledIn);
    expect(applied.spec).toEqual({ apiServer: {}, ...claimed });
    const early = make('OpenStackCluster', { apiServerFixedIP: '' });
    strategyOf(early.kind).prepareForApply!(early, cluster(''));
    expect(early.spec).toEqual({ apiServerFixedIP: '' });
  });

  it.each([
    ['another address', '192.0.2.8', filledIn],
    ['none, where it is not the endpoint', '', cluster('192.0.2.7')],
  ])('cannot be replaced by %s', (_, fixedIP, old) => {
    const next = cluster(fixedIP, old === filledIn ? { controlPlaneEndpoint: endpoint } : {});
    strategyOf(next.kind).prepareForUpdate!(next, old, context);
    expect(updated(next, old)).toEqual(contains(['spec: Forbidden: cannot be modified']));
  });
});

describe('a change of an OpenStackCluster that is made', () => {
  it('is refused with the names of the changed fields', () => {
    const cluster = (provider: string, mtu: number): UnstructuredObject =>
      make(
        'OpenStackCluster',
        { identityRef, networkMTU: mtu, apiServer: { managedLoadBalancer: { enabled: true, provider } } },
        {},
        { ready: true, network: { id: 'n', name: 'n' }, apiServerManagedLoadBalancer: { id: 'l', ip: '192.0.2.1' } },
      );
    expect(updated(cluster('amphora', 1400), cluster('ovn', 1450))).toEqual(
      contains(['changed: networkMTU, apiServer.managedLoadBalancer.provider']),
    );
  });
});

describe('the load balancer of an API', () => {
  const cluster = (enabled: boolean, status?: JsonObject): UnstructuredObject =>
    make('OpenStackCluster', { identityRef, apiServer: { managedLoadBalancer: { enabled } } }, {}, status);
  const refusal = contains(['spec: Forbidden: cannot be modified']);

  it.each([
    ['be given up before it was made', cluster(false), cluster(true), []],
    [
      'not be given up later',
      cluster(false),
      cluster(true, { ...provisioned, apiServerManagedLoadBalancer: { id: 'l' } }),
      refusal,
    ],
    ['not be asked for later', cluster(true), cluster(false, provisioned), refusal],
  ])('may %s', (_, next, old, expected) => {
    expect(updated(next, old)).toEqual(expected);
  });
});

describe('an OpenStackServer', () => {
  const port = { network: { id: '2f4bd8f5-1d0c-4f9e-8a52-6c1e1ac0c001' } };
  const server = (spec: JsonObject = {}, status?: JsonObject): UnstructuredObject =>
    make(
      'OpenStackServer',
      {
        identityRef,
        flavor: 'm1',
        image: { filter: { name: 'i' } },
        sshKeyName: '',
        ports: [port],
        ...spec,
      },
      {},
      status,
    );
  const resolved = { resolved: { imageID: 'i', flavorID: 'f' } };

  it('may have conditions without reason and message, as the OpenStack provider before 0.15 wrote them', () => {
    const condition = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const ours = { ...condition, reason: 'Active', message: '' };
    const status = (one: JsonObject): JsonObject => ({ ready: true, conditions: [one] });
    expect(refusedBySchema(server({}, status(condition)))).toEqual([]);
    expect(refusedBySchema(server({}, status(ours)))).toEqual([]);
  });

  it('needs a flavor or flavorID', () => {
    expect([...created(server()), ...refusedBySchema(server())]).toEqual([]);
    const { flavor: _, ...spec } = server().spec as JsonObject;
    expect(refusedBySchema(make('OpenStackServer', spec))).toEqual(
      contains(['at least one of flavor or flavorID must be set']),
    );
  });

  it('is refused for the same ports and block devices as a machine', () => {
    const root = { rootVolume: { sizeGiB: 1 }, additionalBlockDevices: [{ name: 'root' }] };
    const ports = [{ enablePortSecurity: false, securityGroups: [port.network] }];
    expect(created(server({ ...root, ports }))).toEqual(contains(['spec.additionalBlockDevices', 'spec.ports']));
  });

  it('accepts new credentials and address pairs, and refuses any other change', () => {
    const pairs = [{ ...port, allowedAddressPairs: [{ ipAddress: '10.0.0.1' }] }];
    expect(updated(server({ identityRef: { ...identityRef, name: 't' }, ports: pairs }), server())).toEqual([]);
    expect(updated(server({ flavor: 'm2' }), server({}, resolved))).toEqual([
      'spec: Forbidden: OpenStackServer spec field is immutable. Please create a new resource instead.',
    ]);
    expect(updated(server({ identityRef: { ...identityRef, region: 'r2' } }), server({}, resolved))).toEqual(
      contains(['region is immutable']),
    );
  });

  it('accepts corrections until its spec was resolved to resources', () => {
    const other = { flavor: 'm2', identityRef: { ...identityRef, region: 'r2' } };
    expect(updated(server(other), server())).toEqual([]);
    // A moved server already has its resources.
    const moved = server();
    moved.metadata.annotations = { 'infrastructure.cluster.x-k8s.io/owner-mark': 'elsewhere' };
    expect(updated(server(other), moved)).toEqual(contains(['OpenStackServer spec field is immutable']));
  });
});

describe('an OpenStackMachine', () => {
  const machine = (spec: JsonObject, status?: JsonObject): UnstructuredObject =>
    make(
      'OpenStackMachine',
      { flavor: { filter: { name: 'm1' } }, image: { filter: { name: 'i' } }, ...spec },
      {},
      status,
    );

  it('accepts corrections until it has a server', () => {
    const other = machine({ image: { filter: { name: 'j' } } });
    expect(updated(other, machine({}))).toEqual([]);
    expect(updated(other, machine({}, { instanceID: 'i' }))).toEqual(contains(['spec: Forbidden: cannot be modified']));
    expect(updated(other, machine({ providerID: 'openstack:///i' }))).toEqual(
      contains(['spec: Forbidden: cannot be modified']),
    );
  });
});

describe('an OpenStackCluster that is being created', () => {
  const subnets = { managedSubnets: [{ cidr: '10.6.0.0/24' }] };
  const cluster = (
    spec: JsonObject,
    status?: JsonObject,
    annotations: Record<string, string> = {},
  ): UnstructuredObject => {
    const object = make('OpenStackCluster', { identityRef, ...spec }, {}, status);
    object.metadata.annotations = annotations;
    return object;
  };
  const marked = { 'infrastructure.cluster.x-k8s.io/owner-mark': 'u' };
  const network = { network: { id: 'n', name: 'n', subnets: [] } };
  const router = { router: { id: 'r', name: 'r' } };
  const named = (name: string): JsonObject => ({ filter: { name } });

  it.each<[string, JsonObject, JsonObject]>([
    ['its region', { identityRef: { ...identityRef, region: 'a' } }, { identityRef: { ...identityRef, region: 'b' } }],
    ['its network', { network: named('a') }, { network: named('b') }],
    ['who makes its network', { network: named('a') }, subnets],
    ['its external network', { externalNetwork: named('a') }, { externalNetwork: named('b') }],
    ['everything else', { tags: ['a'] }, { tags: ['b'], enableExternalNetwork: false }],
  ])('may have %s corrected while nothing was made', (_, before, after) => {
    expect(updated(cluster(after), cluster(before))).toEqual([]);
    const refused = updated(cluster(after), cluster(before, { ...network, ...router, ...provisioned }, marked));
    expect(refused).not.toEqual([]);
  });

  it.each<[string, JsonObject, JsonObject, JsonObject, string[]]>([
    ['subnets before they exist', subnets, { managedSubnets: [{ cidr: '10.7.0.0/24' }] }, {}, []],
    [
      'subnets afterwards',
      subnets,
      { managedSubnets: [{ cidr: '10.7.0.0/24' }] },
      network,
      ['cannot change subnet CIDR'],
    ],
    ['who makes the network', subnets, { network: named('a') }, {}, ['spec: Forbidden: cannot be modified except for']],
    ['the router before it was found', { router: named('a') }, { router: named('b') }, network, []],
    ['the router afterwards', { router: named('a') }, { router: named('b') }, { ...network, ...router }, ['cannot be']],
    [
      'the outside before there is a router',
      { ...subnets, externalNetwork: named('a') },
      { ...subnets, externalNetwork: named('b') },
      network,
      [],
    ],
    [
      'a floating IP that does not exist, and doing without',
      { ...subnets, apiServer: { floatingIP: '192.0.2.1' } },
      { ...subnets, apiServer: { enableFloatingIP: false } },
      { ...network, ...router },
      [],
    ],
    [
      'the address once it is published',
      { ...subnets, apiServer: { floatingIP: '192.0.2.1' }, controlPlaneEndpoint: { host: '192.0.2.1', port: 6443 } },
      { ...subnets, apiServer: { floatingIP: '192.0.2.2' }, controlPlaneEndpoint: { host: '192.0.2.1', port: 6443 } },
      { ...network, ...router },
      ['spec: Forbidden: cannot be modified'],
    ],
    ['the region', {}, { identityRef: { ...identityRef, region: 'b' } }, {}, ['region is immutable']],
  ])('with some resources made: %s', (_, before, after, status, expected) => {
    expect(updated(cluster(after), cluster(before, status, marked))).toEqual(contains(expected));
  });
});

describe('address pools and identities', () => {
  it('OpenStackFloatingIPPool refuses preallocated values that are no IP address', () => {
    const pool = make('OpenStackFloatingIPPool', {
      identityRef,
      reclaimPolicy: 'Retain',
      preAllocatedFloatingIPs: ['192.0.2.1', 'x'],
    });
    expect(created(pool)).toEqual(['spec.preAllocatedFloatingIPs[1]: Invalid value: "x": not a valid IP address']);
  });

  it('OpenStackClusterIdentity refuses a namespace selector with an unknown operator', () => {
    const identity = (namespaceSelector: JsonObject): UnstructuredObject =>
      make('OpenStackClusterIdentity', { secretRef: { name: 's', namespace: 'n' }, namespaceSelector });
    expect(created(identity({ matchLabels: { a: 'b' } }))).toEqual([]);
    expect(created(identity({ matchExpressions: [{ key: 'a', operator: 'Is' }] }))).toEqual(
      contains(['spec.namespaceSelector.matchExpressions[0].operator']),
    );
  });
});
