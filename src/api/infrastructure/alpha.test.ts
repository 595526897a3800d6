import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../../machinery/index.ts';
import { openStackClusterKind, openStackMachineKind, openStackMachineTemplateKind } from './kinds.ts';

const group = 'infrastructure.cluster.x-k8s.io';

function clusterSpec(version: string, spec: JsonObject): JsonObject {
  const object = {
    apiVersion: `${group}/${version}`,
    kind: 'OpenStackCluster',
    metadata: { name: 'c', namespace: 'n' },
    spec,
  };
  return (openStackClusterKind.definition.convert!(object, 'v1beta2') as UnstructuredObject).spec as JsonObject;
}

function machineSpec(version: string, spec: JsonObject): JsonObject {
  const object = {
    apiVersion: `${group}/${version}`,
    kind: 'OpenStackMachineTemplate',
    metadata: { name: 'm', namespace: 'n' },
    spec: { template: { spec } },
  };
  const stored = openStackMachineTemplateKind.definition.convert!(object, 'v1beta2') as UnstructuredObject;
  return ((stored.spec as JsonObject)['template'] as JsonObject)['spec'] as JsonObject;
}

const calico = [
  expect.objectContaining({ name: 'BGP (calico)', protocol: 'tcp', portRangeMin: 179, portRangeMax: 179 }),
  expect.objectContaining({ name: 'IP-in-IP (calico)', protocol: '4' }),
];

describe('conversion of old cluster specs to the hub version', () => {
  it('maps a whole v1alpha3 spec', () => {
    const spec = clusterSpec('v1alpha3', {
      cloudName: 'east',
      cloudsSecret: { name: 'os-cred' },
      managedAPIServerLoadBalancer: true,
      useOctavia: true,
      apiServerLoadBalancerAdditionalPorts: [8132],
      nodeCidr: '10.8.0.0/24',
      dnsNameservers: ['9.9.9.9'],
      externalNetworkId: 'E',
      managedSecurityGroups: true,
      disablePortSecurity: false,
      bastion: { enabled: false },
    });
    expect(spec).toEqual({
      identityRef: { name: 'os-cred', cloudName: 'east' },
      apiServer: { managedLoadBalancer: { enabled: true, additionalPorts: [8132] } },
      managedSubnets: [{ cidr: '10.8.0.0/24', dnsNameservers: ['9.9.9.9'] }],
      externalNetwork: { id: 'E' },
      managedSecurityGroups: { clusterNodesSecurityGroupRules: calico },
      bastion: { enabled: false },
    });
  });

  it.each<[string, string, JsonObject, JsonObject]>([
    [
      'credentials by reference',
      'v1alpha6',
      { cloudName: 'c', identityRef: { kind: 'Secret', name: 's' } },
      { identityRef: { name: 's', cloudName: 'c' } },
    ],
    [
      'a network by id, whatever else is said',
      'v1alpha5',
      { network: { id: 'N', name: 'x' } },
      { network: { id: 'N' } },
    ],
    [
      'a network by filter',
      'v1alpha7',
      { network: { name: 'x', tags: 'a,,b', projectId: 'p' } },
      { network: { filter: { name: 'x', tags: ['a', 'b'], projectID: 'p' } } },
    ],
    [
      'the project under its older name',
      'v1alpha6',
      { network: { tenantId: 't', limit: 3 } },
      { network: { filter: { projectID: 't' } } },
    ],
    ['an empty network', 'v1alpha6', { network: {} }, {}],
    [
      'a subnet',
      'v1alpha4',
      { subnet: { cidr: '10.0.0.0/8', gateway_ip: '10.0.0.1', ipv6RaMode: 'slaac' } },
      { subnets: [{ filter: { cidr: '10.0.0.0/8', gatewayIP: '10.0.0.1', ipv6RAMode: 'slaac' } }] },
    ],
    ['name servers without a subnet', 'v1alpha6', { dnsNameservers: ['9.9.9.9'] }, {}],
    ['a router', 'v1alpha7', { router: { name: 'r' } }, { router: { filter: { name: 'r' } } }],
    [
      'outside addresses of the router',
      'v1alpha6',
      { externalRouterIPs: [{ fixedIP: '192.0.2.1', subnet: { uuid: 'S' } }] },
      { managedRouter: { externalIPs: [{ fixedIP: '192.0.2.1', subnet: { id: 'S' } }] } },
    ],
    [
      'outside addresses of the router, flat',
      'v1alpha7',
      { externalRouterIPs: [{ subnet: { name: 's' } }] },
      { managedRouter: { externalIPs: [{ subnet: { filter: { name: 's' } } }] } },
    ],
    [
      'the MTU and port security of the network',
      'v1alpha7',
      { networkMtu: 1400, disablePortSecurity: true },
      { managedNetwork: { mtu: 1400, enablePortSecurity: false } },
    ],
    [
      'zero values',
      'v1alpha7',
      { networkMtu: 0, apiServerFixedIP: '', apiServerPort: 0, controlPlaneEndpoint: { host: '', port: 0 } },
      {},
    ],
    [
      'the API server',
      'v1alpha6',
      { disableAPIServerFloatingIP: true, apiServerFixedIP: '10.0.0.5', apiServerPort: 8443 },
      { apiServer: { enableFloatingIP: false, fixedIP: '10.0.0.5', port: 8443 } },
    ],
    [
      'an enabled load balancer',
      'v1alpha7',
      { apiServerLoadBalancer: { enabled: true, allowedCidrs: ['192.0.2.0/24'], provider: 'ovn' } },
      { apiServer: { managedLoadBalancer: { enabled: true, allowedCIDRs: ['192.0.2.0/24'], provider: 'ovn' } } },
    ],
    [
      'addresses that may reach it',
      'v1alpha5',
      { apiServerLoadBalancer: { enabled: true, allowedCidrs: ['192.0.2.0/24'] } },
      { apiServer: { managedLoadBalancer: { enabled: true, allowedCIDRs: ['192.0.2.0/24'] } } },
    ],
    [
      'a load balancer nobody enabled',
      'v1alpha7',
      { apiServerLoadBalancer: { provider: 'ovn' } },
      { apiServer: { managedLoadBalancer: { enabled: false, provider: 'ovn' } } },
    ],
    ['a load balancer that says nothing', 'v1alpha6', { apiServerLoadBalancer: { enabled: false } }, {}],
    [
      'a disabled load balancer of v1alpha5',
      'v1alpha5',
      { apiServerLoadBalancer: { enabled: false, additionalPorts: [1] } },
      {},
    ],
    [
      'the older names of v1alpha3',
      'v1alpha3',
      { apiServerLoadBalancerFloatingIP: '192.0.2.9', apiServerLoadBalancerPort: 443 },
      { apiServer: { floatingIP: '192.0.2.9', port: 443 } },
    ],
    [
      'open security groups',
      'v1alpha6',
      { managedSecurityGroups: true, allowAllInClusterTraffic: true },
      { managedSecurityGroups: { allowAllInClusterTraffic: true } },
    ],
    ['no security groups', 'v1alpha6', { managedSecurityGroups: false, allowAllInClusterTraffic: true }, {}],
    [
      'a bastion',
      'v1alpha6',
      {
        bastion: {
          enabled: true,
          availabilityZone: 'z',
          instance: { flavor: 'f', image: 'i', floatingIP: '192.0.2.7' },
        },
      },
      {
        bastion: {
          enabled: true,
          availabilityZone: 'z',
          floatingIP: '192.0.2.7',
          spec: { flavor: { filter: { name: 'f' } }, image: { filter: { name: 'i' } } },
        },
      },
    ],
    [
      'the flat bastion of v1alpha3',
      'v1alpha3',
      { bastion: { enabled: true, flavor: 'f', image: 'i', floatingIP: '192.0.2.7' } },
      {
        bastion: {
          enabled: true,
          floatingIP: '192.0.2.7',
          spec: { flavor: { filter: { name: 'f' } }, image: { filter: { name: 'i' } } },
        },
      },
    ],
  ])('maps %s to the hub (%s)', (_, version, old, hub) => {
    expect(clusterSpec(version, old)).toEqual(hub);
  });
});

describe('conversion of old machine specs to the hub version', () => {
  it('maps a whole v1alpha6 spec', () => {
    const spec = machineSpec('v1alpha6', {
      flavor: 'm1',
      image: 'ubuntu',
      serverGroupID: 'G',
      networks: [{ uuid: 'N', subnets: [{ uuid: 'S1' }, { uuid: 'S2' }] }],
      rootVolume: { diskSize: 40, volumeType: 'ssd' },
      securityGroups: [{ name: 'ops' }],
    });
    expect(spec).toEqual({
      flavor: { filter: { name: 'm1' } },
      image: { filter: { name: 'ubuntu' } },
      serverGroup: { id: 'G' },
      ports: [
        { network: { id: 'N' }, fixedIPs: [{ subnet: { id: 'S1' } }] },
        { network: { id: 'N' }, fixedIPs: [{ subnet: { id: 'S2' } }] },
      ],
      rootVolume: { sizeGiB: 40, type: 'ssd', availabilityZone: { from: 'Machine' } },
      securityGroups: [{ filter: { name: 'ops' } }],
    });
  });

  it.each<[string, string, JsonObject, JsonObject]>([
    ['an image by id before its name', 'v1alpha7', { image: 'i', imageUUID: 'I' }, { image: { id: 'I' } }],
    [
      'the source of a root volume as image',
      'v1alpha4',
      { image: 'i', rootVolume: { diskSize: 9, sourceUUID: 'base', sourceType: 'image' } },
      { image: { filter: { name: 'base' } }, rootVolume: { sizeGiB: 9, availabilityZone: { from: 'Machine' } } },
    ],
    [
      'the source of a root volume by id',
      'v1alpha3',
      { rootVolume: { diskSize: 9, sourceUUID: '2f4bd8f5-1d0c-4f9e-8a52-6c1e1ac0c001' } },
      {
        image: { id: '2f4bd8f5-1d0c-4f9e-8a52-6c1e1ac0c001' },
        rootVolume: { sizeGiB: 9, availabilityZone: { from: 'Machine' } },
      },
    ],
    [
      'a root volume of no size',
      'v1alpha5',
      { image: 'i', rootVolume: { diskSize: 0 } },
      { image: { filter: { name: 'i' } } },
    ],
    [
      'the zone of a root volume',
      'v1alpha7',
      { rootVolume: { diskSize: 9, availabilityZone: 'z' } },
      { rootVolume: { sizeGiB: 9, availabilityZone: { from: 'Name', name: 'z' } } },
    ],
    [
      'the zone of a block device',
      'v1alpha7',
      {
        additionalBlockDevices: [
          { name: 'd', sizeGiB: 1, storage: { type: 'Volume', volume: { availabilityZone: 'z' } } },
        ],
      },
      {
        additionalBlockDevices: [
          {
            name: 'd',
            sizeGiB: 1,
            storage: { type: 'Volume', volume: { availabilityZone: { from: 'Name', name: 'z' } } },
          },
        ],
      },
    ],
    [
      'networks before ports',
      'v1alpha5',
      { networks: [{ uuid: 'N' }], ports: [{ network: { name: 'p' } }] },
      { ports: [{ network: { id: 'N' } }, { network: { filter: { name: 'p' } } }] },
    ],
    [
      'the ids of v1alpha4 ports',
      'v1alpha4',
      { ports: [{ networkId: 'N', fixedIPs: [{ subnetId: 'S', ipAddress: '' }], hostId: 'h' }] },
      { ports: [{ network: { id: 'N' }, fixedIPs: [{ subnet: { id: 'S' } }], hostID: 'h' }] },
    ],
    [
      'security groups of a port',
      'v1alpha6',
      { ports: [{ securityGroups: ['A'], securityGroupFilters: [{ name: 'b' }] }] },
      { ports: [{ securityGroups: [{ filter: { name: 'b' } }, { id: 'A' }] }] },
    ],
    [
      'security groups of a port, flat',
      'v1alpha7',
      { ports: [{ securityGroupFilters: [{ id: 'A' }, { name: 'b' }] }] },
      { ports: [{ securityGroups: [{ id: 'A' }, { filter: { name: 'b' } }] }] },
    ],
    [
      'the profile of a port',
      'v1alpha6',
      { ports: [{ profile: { capabilities: '["switchdev"]', trusted: 'true', other: 'x' } }] },
      { ports: [{ profile: { ovsHWOffload: true, trustedVF: true } }] },
    ],
    [
      'port security and empty texts',
      'v1alpha7',
      { ports: [{ disablePortSecurity: true, nameSuffix: '', description: '', macAddress: '' }] },
      { ports: [{ enablePortSecurity: false }] },
    ],
    [
      'metadata',
      'v1alpha5',
      { serverMetadata: { b: '2', a: '1' } },
      {
        serverMetadata: [
          { key: 'a', value: '1' },
          { key: 'b', value: '2' },
        ],
      },
    ],
    [
      'what has no meaning any more',
      'v1alpha3',
      { userDataSecret: { name: 'x' }, floatingIP: '192.0.2.1', subnet: 's', instanceID: 'i' },
      {},
    ],
  ])('maps %s to the hub (%s)', (_, version, old, hub) => {
    expect(machineSpec(version, old)).toEqual(hub);
  });

  it('moves the server id from spec to status', () => {
    const old = {
      apiVersion: `${group}/v1alpha6`,
      kind: 'OpenStackMachine',
      metadata: { name: 'm' },
      spec: { flavor: 'f', instanceID: 'I' },
    };
    const stored = openStackMachineKind.definition.convert!(old, 'v1beta2') as UnstructuredObject;
    expect(stored).toMatchObject({ spec: { flavor: { filter: { name: 'f' } } }, status: { instanceID: 'I' } });
  });
});

describe('hub objects in old versions', () => {
  const show = (version: string, spec: JsonObject): JsonObject =>
    (
      openStackClusterKind.definition.convert!(
        { apiVersion: `${group}/v1beta2`, kind: 'OpenStackCluster', metadata: { name: 'c', namespace: 'n' }, spec },
        version,
      ) as UnstructuredObject
    ).spec as JsonObject;

  it.each<[string, JsonObject]>([
    [
      'v1beta1',
      {
        identityRef: { name: 's', cloudName: 'c' },
        apiServerPort: 443,
        managedSecurityGroups: {},
        externalNetwork: { id: 'E' },
      },
    ],
    [
      'v1alpha7',
      {
        identityRef: { kind: 'Secret', name: 's' },
        cloudName: 'c',
        apiServerPort: 443,
        managedSecurityGroups: true,
        externalNetworkId: 'E',
      },
    ],
    [
      'v1alpha3',
      {
        cloudsSecret: { name: 's', namespace: 'n' },
        cloudName: 'c',
        apiServerPort: 443,
        managedSecurityGroups: true,
        externalNetworkId: 'E',
      },
    ],
  ])('are shown as %s would write them', (version, expected) => {
    const hub = {
      identityRef: { name: 's', cloudName: 'c' },
      apiServer: { port: 443 },
      managedSecurityGroups: {},
      externalNetwork: { id: 'E' },
    };
    expect(show(version, hub)).toEqual(expected);
  });

  it('take v1beta1 readiness from the Ready condition', () => {
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Up',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const shown = openStackClusterKind.definition.convert!(
      {
        apiVersion: `${group}/v1beta2`,
        kind: 'OpenStackCluster',
        metadata: { name: 'c' },
        status: { conditions: [condition], failureDomains: [{ name: 'b' }, { name: 'a', controlPlane: true }] },
      },
      'v1beta1',
    ) as UnstructuredObject;
    expect(shown.status).toEqual({
      ready: true,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Up', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      failureDomains: { a: { controlPlane: true }, b: {} },
    });
  });
});
