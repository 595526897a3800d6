import type { OpenStackShell } from '../../../e2e/openstack-command/openstack-shell.ts';
import { type Belonging, type Foreign, look, make } from './foreign.ts';
import { userDataName } from './manifests.ts';
import { cloudName, identityName } from './stage.ts';

/** Existing resources that a cluster uses and must not delete. */
export interface Brought extends Foreign {
  readonly name: string;
  readonly network: string;
  readonly subnet: string;
  readonly router: string;
  readonly serverGroup: string;
  /** addresses of two floating IPs: one for the API, one for the pool */
  readonly apiAddress: string;
  readonly poolAddress: string;
}

export async function bringParts(openstack: OpenStackShell, namespace: string): Promise<Brought> {
  const name = `${namespace}-brought`;
  await openstack.run('keypair', 'create', name);
  const network = await make(openstack, 'network', 'create', name);
  const range = ['--network', network, '--subnet-range', '10.8.0.0/24'];
  const subnet = await make(openstack, 'subnet', 'create', name, ...range);
  const router = await make(openstack, 'router', 'create', name);
  await openstack.run('router', 'set', router, '--external-gateway', 'public');
  await openstack.run('router', 'add', 'subnet', router, subnet);
  const serverGroup = await make(openstack, 'server', 'group', 'create', name, '--policy', 'soft-anti-affinity');
  const floatingIps: { id: string; floating_ip_address: string }[] = [];
  for (let count = 0; count < 2; count++) floatingIps.push(await openstack.json('floating', 'ip', 'create', 'public'));
  const things: readonly Belonging[] = [
    ['server group', serverGroup],
    ['router', router],
    ['subnet', subnet],
    ['network', network],
    ['keypair', name],
  ];
  return {
    name,
    keyName: name,
    network,
    subnet,
    router,
    serverGroup,
    apiAddress: floatingIps[0]!.floating_ip_address,
    poolAddress: floatingIps[1]!.floating_ip_address,
    look: () => look(openstack, things),
  };
}

const infrastructure = 'infrastructure.cluster.x-k8s.io';

/** Builds a cluster of one control plane machine and one worker on existing resources, with all kinds of ports. */
export function clusterOnBroughtParts(cluster: string, brought: Brought): object[] {
  const byName = { filter: { name: brought.name } };
  const identityRef = { name: identityName, cloudName };
  const common = {
    flavor: { filter: { name: 'm1.small' } },
    image: { filter: { name: 'ubuntu-22.04-x86_64' } },
    sshKeyName: brought.keyName,
  };
  return [
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: cluster },
      spec: { infrastructureRef: { apiGroup: infrastructure, kind: 'OpenStackCluster', name: cluster } },
    },
    {
      apiVersion: `${infrastructure}/v1beta2`,
      kind: 'OpenStackCluster',
      metadata: { name: cluster },
      spec: {
        identityRef,
        network: byName,
        subnets: [byName],
        router: byName,
        externalNetwork: { filter: { name: 'public' } },
        apiServer: { floatingIP: brought.apiAddress, port: 443 },
        managedSecurityGroups: {
          clusterNodesSecurityGroupRules: [
            { name: 'ping', direction: 'ingress', protocol: 'icmp', remoteIPPrefix: '10.8.0.17/16' },
            {
              name: 'bgp',
              direction: 'ingress',
              protocol: '6',
              portRangeMin: 179,
              portRangeMax: 179,
              remoteManagedGroups: ['controlplane', 'worker'],
            },
            { name: 'ipip', direction: 'ingress', protocol: 'ipip', remoteManagedGroups: ['worker'] },
          ],
        },
      },
    },
    {
      apiVersion: `${infrastructure}/v1alpha1`,
      kind: 'OpenStackFloatingIPPool',
      metadata: { name: 'addresses' },
      spec: {
        identityRef,
        reclaimPolicy: 'Delete',
        preAllocatedFloatingIPs: [brought.poolAddress],
        floatingIPNetwork: { filter: { name: 'public' } },
      },
    },
    ...machine(cluster, 'controller', {
      ...common,
      trunk: true,
      serverGroup: byName,
      ports: [
        {
          nameSuffix: 'main',
          description: 'the way in',
          fixedIPs: [{ subnet: byName, ipAddress: '10.8.0.50' }],
          allowedAddressPairs: [{ ipAddress: '10.8.0.200' }],
          tags: ['main'],
        },
        { nameSuffix: 'open', enablePortSecurity: false, trunk: false },
      ],
    }),
    ...machine(cluster, 'worker', {
      ...common,
      floatingIPPoolRef: { apiGroup: infrastructure, kind: 'OpenStackFloatingIPPool', name: 'addresses' },
    }),
    ...machine(cluster, 'keyless', { ...common, sshKeyName: `${brought.name}-nobody-has` }),
  ];
}

function machine(cluster: string, role: 'controller' | 'worker' | 'keyless', spec: object): object[] {
  const name = `${cluster}-${role}`;
  const labels = {
    'cluster.x-k8s.io/cluster-name': cluster,
    ...(role === 'controller' && { 'cluster.x-k8s.io/control-plane': '' }),
  };
  return [
    { apiVersion: `${infrastructure}/v1beta2`, kind: 'OpenStackMachine', metadata: { name, labels }, spec },
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { name, labels },
      spec: {
        clusterName: cluster,
        bootstrap: { dataSecretName: userDataName },
        infrastructureRef: { apiGroup: infrastructure, kind: 'OpenStackMachine', name },
      },
    },
  ];
}
