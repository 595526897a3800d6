import { describe, expect, it } from 'vitest';
import { type Field, madeByStack, type Values, variablesOf } from '../testing/made-by-stack.ts';

/** Variables, a field, and its expected value. */
type Row = [values: Values, field: Field, expected: unknown];
type Refusal = [values: Values, message: RegExp];

const uuid = '6d6ec9b5-3f0b-4c0e-9d1f-2f1d3a1b6c77';
const needed = { networkExternalID: uuid };
const image = 'ubuntu-capi-image-v1.33.6';

const ofBoth: Row[] = [
  [needed, 'cluster/externalNetwork', { id: uuid }],
  [{}, 'cluster/managedNetwork', undefined],
  [{ networkMTU: 1400 }, 'cluster/managedNetwork/mtu', 1400],
  [{}, 'cluster/managedSubnets', [{ cidr: '10.8.0.0/20', dnsNameservers: ['9.9.9.9', '149.112.112.112'] }]],
  [
    { nodeCIDR: '10.9.0.0/24', dnsNameservers: ['1.1.1.1'] },
    'cluster/managedSubnets',
    [{ cidr: '10.9.0.0/24', dnsNameservers: ['1.1.1.1'] }],
  ],
  [{}, 'cluster/identityRef', { name: 'openstack', cloudName: 'openstack' }],
  [{ identityRef: { name: 'mine', cloudName: 'north' } }, 'cluster/identityRef', { name: 'mine', cloudName: 'north' }],
  [{}, 'worker/flavor', { filter: { name: 'SCS-4V-8' } }],
  [{ workerFlavor: 'big' }, 'worker/flavor', { filter: { name: 'big' } }],
  [{}, 'worker/rootVolume', { sizeGiB: 50 }],
  [{ workerRootDisk: 0 }, 'worker/rootVolume', undefined],
  [{}, 'worker/serverGroup', undefined],
  [{ workerServerGroupID: uuid }, 'worker/serverGroup', { id: uuid }],
  [
    { workerAdditionalBlockDevices: [{ name: 'data', sizeGiB: 30 }] },
    'worker/additionalBlockDevices',
    [{ name: 'data', sizeGiB: 30, storage: { type: 'Volume', volume: { type: '__DEFAULT__' } } }],
  ],
  [{ securityGroups: ['all'] }, 'worker/securityGroups', [{ filter: { name: 'all' } }]],
  [{ securityGroups: ['all'], securityGroupIDs: [uuid] }, 'worker/securityGroups', [{ id: uuid }]],
  [
    { securityGroupIDs: [uuid], workerSecurityGroups: ['mine'] },
    'worker/securityGroups',
    [{ filter: { name: 'mine' } }],
  ],
  [{ workerSecurityGroups: ['mine'], workerSecurityGroupIDs: [uuid] }, 'worker/securityGroups', [{ id: uuid }]],
  [{}, 'worker/image', { filter: { name: image } }],
  // a numeric-looking value is a string
  [{ imageName: '2404', imageAddVersion: false }, 'worker/image', { filter: { name: '2404' } }],
  [{ imageName: 'flatcar', imageIsOrc: true }, 'worker/image', { imageRef: { name: 'flatcar-v1.33.6' } }],
  [{ imageAddVersion: false }, 'worker/image/filter/name', 'ubuntu-capi-image'],
  [{}, 'worker/sshKeyName', undefined],
  [{ sshKeyName: 'me' }, 'worker/sshKeyName', 'me'],
];

const ofHosted: Row[] = [
  [{}, 'plane/replicas', 3],
  [{ controlPlaneReplicas: 5 }, 'plane/replicas', 5],
  [{}, 'plane/gateway', undefined],
  [{ gatewayName: 'edge' }, 'plane/gateway', { name: 'edge', namespace: 'default' }],
  [{ gatewayName: 'edge', gatewayNamespace: 'net' }, 'plane/gateway/namespace', 'net'],
  [{ certSANs: ['a.example.org'] }, 'plane/apiServer/certSANs', ['a.example.org']],
  [{}, 'cluster/apiServer/enableFloatingIP', false],
  [{ disableAPIServerFloatingIP: false }, 'cluster/apiServer/enableFloatingIP', true],
  [{ apiServerLoadBalancer: 'none' }, 'cluster/apiServer/managedLoadBalancer', undefined],
];

const configuration = 'plane/kubeadmConfigSpec/clusterConfiguration';
const cidrs = ['10.0.0.0/8'];
const ofScs2: Row[] = [
  [{}, 'machine/flavor', { filter: { name: 'SCS-2V-4' } }],
  [{ controlPlaneFlavor: 'big' }, 'machine/flavor', { filter: { name: 'big' } }],
  [{}, 'machine/rootVolume', { sizeGiB: 50 }],
  [{ controlPlaneRootDisk: 0 }, 'machine/rootVolume', undefined],
  [{ controlPlaneRootDisk: 20 }, 'machine/rootVolume', { sizeGiB: 20 }],
  [{}, 'machine/serverGroup', undefined],
  [{ controlPlaneServerGroupID: uuid }, 'machine/serverGroup', { id: uuid }],
  [{}, 'cluster/controlPlaneAvailabilityZones', undefined],
  [{ controlPlaneAvailabilityZones: ['a', 'b'] }, 'cluster/controlPlaneAvailabilityZones', ['a', 'b']],
  [{}, 'cluster/controlPlaneOmitAvailabilityZone', undefined],
  [{ controlPlaneOmitAvailabilityZone: true }, 'cluster/controlPlaneOmitAvailabilityZone', true],
  [{}, 'machine/image', { filter: { name: image } }],
  [{ imageName: '2404', imageAddVersion: false }, 'machine/image', { filter: { name: '2404' } }],
  [{ imageName: 'flatcar', imageIsOrc: true }, 'machine/image', { imageRef: { name: 'flatcar-v1.33.6' } }],
  [{}, 'machine/sshKeyName', undefined],
  [{ sshKeyName: 'me' }, 'machine/sshKeyName', 'me'],
  [{ securityGroups: ['all'] }, 'machine/securityGroups', [{ filter: { name: 'all' } }]],
  [{ securityGroups: ['all'], securityGroupIDs: [uuid] }, 'machine/securityGroups', [{ id: uuid }]],
  // security groups of workers differ from those of the control plane
  [{ workerSecurityGroups: ['mine'], workerSecurityGroupIDs: [uuid] }, 'machine/securityGroups', undefined],
  [{ certSANs: ['a.example.org'] }, `${configuration}/apiServer/certSANs`, ['a.example.org']],
  [{}, 'cluster/apiServer/managedLoadBalancer', { enabled: true, provider: 'ovn' }],
  [{ apiServerLoadBalancer: 'none' }, 'cluster/apiServer/managedLoadBalancer', undefined],
  [
    { apiServerLoadBalancer: 'octavia-amphora', apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: cidrs },
    'cluster/apiServer/managedLoadBalancer',
    { enabled: true, provider: 'amphora', allowedCIDRs: cidrs },
  ],
  // the OVN provider does not support allowed CIDRs
  [
    { apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: cidrs },
    'cluster/apiServer/managedLoadBalancer',
    { enabled: true, provider: 'ovn' },
  ],
  [{}, 'cluster/apiServer/enableFloatingIP', true],
  [{ disableAPIServerFloatingIP: true }, 'cluster/apiServer/enableFloatingIP', false],
  [{}, `${configuration}/apiServer/extraArgs`, [{ name: 'profiling', value: 'false' }]],
  // an incomplete OIDC configuration is ignored
  [{ oidcConfig: { clientID: 'me' } }, `${configuration}/apiServer/extraArgs`, [{ name: 'profiling', value: 'false' }]],
  [
    { oidcConfig: { clientID: 'me', issuerURL: 'https://id.example.org' } },
    `${configuration}/apiServer/extraArgs`,
    [
      { name: 'profiling', value: 'false' },
      { name: 'oidc-client-id', value: 'me' },
      { name: 'oidc-issuer-url', value: 'https://id.example.org' },
      { name: 'oidc-username-claim', value: 'preferred_username' },
      { name: 'oidc-groups-claim', value: 'groups' },
      { name: 'oidc-username-prefix', value: 'oidc:' },
      { name: 'oidc-groups-prefix', value: 'oidc:' },
    ],
  ],
];

const refusedByBoth: Refusal[] = [
  [{ apiServerLoadBalancer: 'octavia' }, /supported values: "none"/],
  [{ networkExternalID: 'public' }, /networkExternalID/],
  [{ networkMTU: 10 }, /networkMTU/],
  [{ workerRootDisk: -1 }, /greater than or equal to 0/],
  [{ workerAdditionalBlockDevices: [{ sizeGiB: 1 }] }, /name/],
  [{ securityGroupIDs: ['default'] }, /securityGroupIDs/],
  [{ nodeCIDR: '10.8.0.0' }, /nodeCIDR/],
  [{ dnsNameservers: ['dns.example.org'] }, /must be an IP address/],
];

const stacks: { stack: string; rows: Row[]; refused: Refusal[] }[] = [
  {
    stack: 'hosted-control-plane',
    rows: [...ofBoth, ...ofHosted],
    refused: [
      ...refusedByBoth,
      [{ apiServerLoadBalancer: 'octavia-ovn' }, /no machines that a load balancer of OpenStack could lead to/],
      [{ apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: cidrs }, /no load balancer of OpenStack/],
      [{ controlPlaneReplicas: 0 }, /greater than or equal to 1/],
    ],
  },
  {
    stack: 'scs2',
    rows: [...ofBoth, ...ofScs2],
    refused: [
      ...refusedByBoth,
      [{ apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: ['everybody'] }, /must be a subnet in CIDR notation/],
      [{ controlPlaneRootDisk: -1 }, /greater than or equal to 0/],
      [{ controlPlaneServerGroupID: 'mine' }, /controlPlaneServerGroupID/],
      [{ oidcConfig: { clientID: 'me', issuerURL: 'http://id.example.org' } }, /must begin with https/],
    ],
  },
];

describe.each(stacks)('the variables of the stack $stack', ({ stack, rows, refused }) => {
  const name = `openstack-${stack}-1-33-v1`;

  it('are all covered by the cases below', async () => {
    const set = new Set([...rows, ...refused].flatMap(([values]) => Object.keys(values)));
    expect([...set].sort()).toEqual(await variablesOf(name));
  });

  it.each(rows)('%j set %s', async (values, field, expected) => {
    expect((await madeByStack(name, { ...needed, ...values }))(field)).toEqual(expected);
  });

  it.each(refused)('refuse %j', async (values, message) => {
    await expect(madeByStack(name, { ...needed, ...values })).rejects.toThrow(message);
  });
});
