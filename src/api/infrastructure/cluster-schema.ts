import { apiEndpoint, failureDomains } from '../cluster/cluster-schema.ts';
import { conditions, deprecatedConditions } from '../cluster/common-schema.ts';
import {
  atomicList,
  boolean,
  type Field,
  int32,
  integer,
  listKeyedBy,
  mapOf,
  object,
  once,
  oneOf,
  setOf,
  string,
  stringMap,
  type UntypedField,
} from '../kind/schema.ts';
import {
  type Era,
  identityReference,
  int,
  needed,
  networkParam,
  plainList,
  plainSet,
  subnetParam,
} from './common-schema.ts';
import {
  machineResources,
  openStackMachineSpec,
  openStackMachineSpecV1beta1,
  resolvedMachine,
  resolvedMachineV1beta1,
} from './machine-schema.ts';
import type {
  ManagedSubnet,
  NamedResource,
  NetworkStatus,
  OpenStackClusterSpec,
  OpenStackClusterStatus,
  SecurityGroupRule,
  SubnetParam,
  TaggedResource,
} from './types.ts';

const ip = (what: string): Field<string> => string(`Address ${what}.`);

const loadBalancerFields = (era: Era) => ({
  additionalPorts: setOf(int(era, ''), 'Additional ports with a listener.'),
  allowedCIDRs: setOf(string(), 'Addresses that may connect; absent means all.'),
  provider: string('Octavia provider.'),
  network: networkParam('network', 'Network of the address of the load balancer.'),
  subnets: atomicList(subnetParam(era, ''), 'Subnets of the address of the load balancer.'),
  availabilityZone: string('Availability zone of the load balancer.'),
  flavor: string('Octavia flavor.'),
  monitor: object(
    {
      delay: int(era, 'Seconds between two checks.', { minimum: 0 }),
      timeout: int(era, 'Seconds a check may take.', { minimum: 0 }),
      maxRetries: int(era, 'Good checks before a member is used.', { minimum: 0, maximum: 10 }),
      maxRetriesDown: int(era, 'Bad checks before a member is no longer used.', { minimum: 1, maximum: 10 }),
    },
    'How the members are checked.',
  ),
});
const loadBalancerDescription = 'Load balancer in front of the API servers.';
const enabledLoadBalancer = (): Field<boolean> => boolean('Whether there is a load balancer.').default(true);

const ruleList = (era: Era, description: string): Field<SecurityGroupRule[]> =>
  listKeyedBy(
    ['name'],
    object({
      name: needed(era, 'Unique name of the rule.'),
      description: string('Description of the rule.'),
      direction: oneOf(['ingress', 'egress'], 'Traffic to or from the server.').required(),
      etherType: oneOf(['IPv4', 'IPv6'], 'Kind of addresses.'),
      portRangeMin: int(era, 'First port.'),
      portRangeMax: int(era, 'Last port.'),
      protocol: string('Protocol by name or number.'),
      remoteGroupID: string('Security group of the other side.'),
      remoteIPPrefix: string('Addresses of the other side.'),
      remoteManagedGroups: plainSet(
        era,
        oneOf(['bastion', 'controlplane', 'worker']),
        'Managed security groups of the other side.',
      ),
    }),
    description,
  );
const allNodesRules = (era: Era): Field<SecurityGroupRule[]> => ruleList(era, 'Additional rules for all nodes.');
const ruleFields = (era: Era) => ({
  controlPlaneNodesSecurityGroupRules: ruleList(era, 'Additional rules for control plane nodes.'),
  workerNodesSecurityGroupRules: ruleList(era, 'Additional rules for workers.'),
});
const allowAll = (): Field<boolean> => boolean('Allow all traffic between the nodes of the cluster.').default(false);
const groupsDescription = 'Security groups that the controller creates and maintains; absent means none.';

const managedSubnets = (era: Era): Field<ManagedSubnet[]> =>
  atomicList(
    object({
      cidr: needed(era, 'Address range of the subnet.'),
      dnsNameservers: plainList(era, string(), 'Name servers given to the nodes.'),
      allocationPools: plainList(
        era,
        object({ start: needed(era, 'First address.'), end: needed(era, 'Last address.') }),
        'Addresses that can be assigned.',
      ),
    }),
    'Subnets that the controller creates, with a network and a router; absent means that existing ones are used.',
    { maxItems: 1 },
  );

const routerIPs = (era: Era): Field<{ fixedIP?: string; subnet: SubnetParam }> =>
  object({
    fixedIP: ip('of the router'),
    subnet: subnetParam(era, 'Subnet of the address.').required(),
  });

const commonSpecFields = (era: Era) => ({
  identityRef: identityReference(era, 'Credentials for the cloud.').required(),
  managedSubnets: managedSubnets(era),
  network: networkParam('network', 'Existing network for the nodes.'),
  subnets: atomicList(subnetParam(era, ''), 'Existing subnets for the nodes.'),
  primarySubnet: subnetParam(era, 'The subnet for the addresses of node ports.'),
  router: networkParam('router', 'Existing router to use.'),
  externalNetwork: networkParam('network', 'External network; absent means the only one.'),
  tags: setOf(string(), 'Tags of all created resources.'),
  controlPlaneAvailabilityZones: setOf(string(), 'Availability zones control plane machines may go to.'),
  controlPlaneOmitAvailabilityZone: boolean('Let the cloud choose the zone of control plane machines.'),
});

const bastionFields = () => ({
  enabled: boolean('Whether there is a bastion.').default(true),
  availabilityZone: string('Availability zone of the bastion.'),
  floatingIP: string('Floating IP of the bastion; absent means a new one.', { format: 'ipv4' }),
});
const bastionDescription = 'A jump host for the other servers.';
const bastionRule = ['!self.enabled || has(self.spec)', 'spec is required if bastion is enabled'] as const;
const specDescription = 'Desired state.';
const endpointDescription = 'Address of the Kubernetes API of the cluster.';

export const openStackClusterSpec: () => Field<OpenStackClusterSpec> = once(() => {
  const era = 'v1beta2';
  return object(
    {
      ...commonSpecFields(era),
      managedNetwork: object(
        {
          mtu: int32('Largest packet on the network.'),
          enablePortSecurity: boolean('Switches port security on or off; absent leaves it to the cloud.'),
        },
        'The network that the controller creates.',
      ).rule(
        'self == null || has(self.mtu) || has(self.enablePortSecurity)',
        'managedNetwork must not be empty if set',
      ),
      managedRouter: object(
        { externalIPs: atomicList(routerIPs(era), 'External addresses of the router.', { minItems: 1 }) },
        'The router that the controller creates.',
      ).rule('has(self.externalIPs)', 'managedRouter must not be empty if set'),
      enableExternalNetwork: boolean('Whether there is an external network; default true.'),
      apiServer: object(
        {
          port: integer('Port of the Kubernetes API; absent means 6443.', { minimum: 0, maximum: 65535 }),
          fixedIP: ip('of the Kubernetes API in the network'),
          floatingIP: ip('of the Kubernetes API, external; absent means a new one'),
          enableFloatingIP: boolean('Whether the Kubernetes API gets a floating IP; default true.'),
          managedLoadBalancer: object(
            { enabled: enabledLoadBalancer(), ...loadBalancerFields(era) },
            loadBalancerDescription,
          ),
        },
        'How the Kubernetes API is reached.',
      ),
      managedSecurityGroups: object(
        {
          clusterNodesSecurityGroupRules: allNodesRules(era),
          ...ruleFields(era),
          allowAllInClusterTraffic: allowAll(),
        },
        groupsDescription,
      ),
      controlPlaneEndpoint: apiEndpoint(),
      bastion: object({ ...bastionFields(), spec: openStackMachineSpec() }, bastionDescription).rule(...bastionRule),
    },
    specDescription,
  )
    .rule(
      'has(self.enableExternalNetwork) && !self.enableExternalNetwork ? !has(self.bastion) || !has(self.bastion.floatingIP) : true',
      'bastion floating IP cannot be set when enableExternalNetwork is false',
    )
    .rule(
      'has(self.enableExternalNetwork) && !self.enableExternalNetwork ? has(self.apiServer) && has(self.apiServer.enableFloatingIP) && !self.apiServer.enableFloatingIP : true',
      'apiServer.enableFloatingIP cannot be true when enableExternalNetwork is false',
    );
});

export const openStackClusterSpecV1beta1: () => UntypedField = once(() => {
  const era = 'v1beta1';
  return object(
    {
      ...commonSpecFields(era),
      apiServerPort: integer('Port of the Kubernetes API; absent means 6443.', { minimum: 0, maximum: 65535 }),
      apiServerFixedIP: ip('of the Kubernetes API in the network'),
      apiServerFloatingIP: ip('of the Kubernetes API, external; absent means a new one'),
      disableAPIServerFloatingIP: boolean('Do not give the Kubernetes API a floating IP.'),
      apiServerLoadBalancer: object(
        { enabled: enabledLoadBalancer().required(), ...loadBalancerFields(era) },
        loadBalancerDescription,
      ),
      disableExternalNetwork: boolean('Do not use an external network.'),
      disablePortSecurity: boolean('Switches port security off on the network.'),
      networkMTU: integer('Largest packet on the network.'),
      externalRouterIPs: atomicList(routerIPs(era), 'External addresses of the router.'),
      managedSecurityGroups: object(
        {
          allNodesSecurityGroupRules: allNodesRules(era),
          ...ruleFields(era),
          allowAllInClusterTraffic: allowAll().required(),
        },
        groupsDescription,
      ),
      controlPlaneEndpoint: object(
        {
          host: string('Name or address of the Kubernetes API.', { maxLength: 512 }),
          port: int32('Port of the Kubernetes API.'),
        },
        endpointDescription,
      ),
      bastion: object({ ...bastionFields(), spec: openStackMachineSpecV1beta1() }, bastionDescription).rule(
        ...bastionRule,
      ),
    },
    specDescription,
  )
    .rule(
      'has(self.disableExternalNetwork) && self.disableExternalNetwork ? !has(self.bastion) || !has(self.bastion.floatingIP) : true',
      'bastion floating IP cannot be set when disableExternalNetwork is true',
    )
    .rule(
      'has(self.disableExternalNetwork) && self.disableExternalNetwork ? has(self.disableAPIServerFloatingIP) && self.disableAPIServerFloatingIP : true',
      'disableAPIServerFloatingIP cannot be false when disableExternalNetwork is true',
    );
});

const nameAndId = (era: Era) => ({ name: needed(era, 'Name in the cloud.'), id: needed(era, 'Id in the cloud.') });
const tagged = (era: Era) => ({ ...nameAndId(era), tags: plainSet(era, string(), 'Tags in the cloud.') });
const named = (era: Era, description: string): Field<NamedResource> => object(nameAndId(era), description);
const taggedResource = (era: Era, description: string): Field<TaggedResource> => object(tagged(era), description);
const networkStatus = (era: Era, description: string): Field<NetworkStatus> =>
  object(
    {
      ...tagged(era),
      subnets: plainList(
        era,
        object({ ...tagged(era), cidr: needed(era, 'Address range.') }),
        'Subnets of the network.',
      ),
    },
    description,
  );

const commonStatusFields = (era: Era) => ({
  initialization: object(
    { provisioned: boolean('True once the infrastructure has been provided; never becomes false again.') },
    'Progress of the first provisioning.',
  ),
  network: networkStatus(era, 'Network of the nodes.'),
  externalNetwork: taggedResource(era, 'External network.'),
  router: object({ ...tagged(era), ips: plainSet(era, string(), 'External addresses.') }, 'Router of the network.'),
  controlPlaneSecurityGroup: named(era, 'Security group of the control plane.'),
  workerSecurityGroup: named(era, 'Security group of the workers.'),
  bastionSecurityGroup: named(era, 'Security group of the bastion.'),
});

const loadBalancerStatus = (era: Era) =>
  object(
    {
      ...tagged(era),
      // A load balancer may have no external address, and has no internal address until it is created.
      ip: string('External address.'),
      internalIP: string('Internal address.'),
      allowedCIDRs: plainSet(era, string(), 'Addresses that may connect.'),
      loadBalancerNetwork: networkStatus(era, 'Network of its address.'),
    },
    loadBalancerDescription,
  );

const bastionStatusFields = (era: Era) => ({
  id: string('Id of the server.'),
  name: string('Name of the server.'),
  sshKeyName: string('Key pair on the server.'),
  state: string('State of the server in the cloud.'),
  ip: ip('inside'),
  floatingIP: ip('outside'),
  resources: machineResources(era),
});

export const openStackClusterStatus: () => Field<OpenStackClusterStatus> = once(() =>
  object(
    {
      ...commonStatusFields('v1beta2'),
      conditions: conditions(),
      apiServerManagedLoadBalancer: loadBalancerStatus('v1beta2'),
      failureDomains: failureDomains({}),
      bastion: object({ ...bastionStatusFields('v1beta2'), resolved: resolvedMachine() }, 'The bastion.'),
    },
    'Observed state.',
  ),
);

export const openStackClusterStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...commonStatusFields('v1beta1'),
      ready: boolean('True while the infrastructure is ready.').default(false).required(),
      conditions: deprecatedConditions(),
      apiServerLoadBalancer: loadBalancerStatus('v1beta1'),
      failureDomains: mapOf(
        object({
          controlPlane: boolean('Whether control plane machines may go here.'),
          attributes: stringMap('Attributes from the provider.'),
        }),
        'Failure domains for machines.',
      ),
      failureReason: string('Reason of a terminal failure of the object.'),
      failureMessage: string('Message about a terminal failure of the object.'),
      bastion: object({ ...bastionStatusFields('v1beta1'), resolved: resolvedMachineV1beta1() }, 'The bastion.'),
    },
    'Observed state.',
  ),
);
