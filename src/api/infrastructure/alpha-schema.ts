import { must, type Schema } from '../../machinery/index.ts';
import { lenient } from '../kind/lenient.ts';
import {
  anyValue,
  boolean,
  type Fields,
  integer,
  list,
  object,
  string,
  stringMap,
  type UntypedField,
} from '../kind/schema.ts';
import { openStackClusterStatusV1beta1 } from './cluster-schema.ts';
import { openStackMachineSpecV1beta1, openStackMachineStatusV1beta1 } from './machine-schema.ts';

/** v1alpha3 … v1alpha7 */
export type Alpha = 3 | 4 | 5 | 6 | 7;

/** Fields that exist only in some of the versions. */
function when(condition: boolean, fields: Fields): Fields {
  return condition ? fields : {};
}

const tagStrings = (): Fields => ({
  tags: string('Tags it must all have, separated by commas.'),
  tagsAny: string('Tags it must have one of, separated by commas.'),
  notTags: string('Tags it must not all have, separated by commas.'),
  notTagsAny: string('Tags it must have none of, separated by commas.'),
});

/** Parameters of a list request that these versions accept, but that have no effect here. */
const requestFields = (alpha: Alpha): Fields =>
  when(alpha < 7, {
    status: string('Without effect.'),
    adminStateUp: boolean('Without effect.'),
    shared: boolean('Without effect.'),
    marker: string('Without effect.'),
    limit: integer('Without effect.'),
    sortKey: string('Without effect.'),
    sortDir: string('Without effect.'),
    tenantId: string('Project it belongs to.'),
  });

const networkFilterFields = (alpha: Alpha): Fields => ({
  id: string('Id in the cloud; wins over everything else.'),
  name: string('Name in the cloud.'),
  description: string('Description in the cloud.'),
  projectId: string('Project it belongs to.'),
  ...tagStrings(),
  ...requestFields(alpha),
});

export const networkFilter = (alpha: Alpha, description: string): UntypedField =>
  object(networkFilterFields(alpha), description);

const subnetFilter = (alpha: Alpha, description: string): UntypedField =>
  object(
    {
      ...networkFilterFields(alpha),
      ipVersion: integer('4 or 6.'),
      gateway_ip: string('Address of the gateway.'),
      cidr: string('Address range.'),
      ipv6AddressMode: string('How IPv6 addresses are given out.'),
      ipv6RaMode: string('How IPv6 routers are announced.'),
      ...when(alpha < 7, {
        enableDhcp: boolean('Without effect.'),
        networkId: string('Without effect.'),
        subnetpoolId: string('Without effect.'),
      }),
    },
    description,
  );

const subnetParam = (alpha: Alpha): UntypedField =>
  object({ uuid: string('Id of the subnet.'), filter: subnetFilter(alpha, 'Fields the subnet must have.') });

const securityGroup = (alpha: Alpha): UntypedField =>
  alpha === 7
    ? networkFilter(alpha, 'A security group.')
    : object({
        uuid: string('Id of the security group.'),
        name: string('Name of the security group.'),
        filter: networkFilter(alpha, 'Fields the security group must have.'),
      });

const listOf = (item: UntypedField, description: string): UntypedField => ({
  schema: { type: 'array', items: item.schema, description },
  isRequired: false,
});

const identityFields = (alpha: Alpha): Fields => ({
  cloudName: string('Name of the cloud in clouds.yaml.'),
  ...(alpha === 3
    ? {
        cloudsSecret: object(
          { name: string('Name of the Secret.'), namespace: string('Namespace of the Secret.') },
          'Secret with clouds.yaml.',
        ),
      }
    : {
        identityRef: object(
          { kind: string('Secret.'), name: string('Name of the Secret.') },
          'Secret with clouds.yaml.',
        ),
      }),
});

const port = (alpha: Alpha): UntypedField =>
  object({
    ...(alpha === 4
      ? { networkId: string('Id of the network.') }
      : { network: networkFilter(alpha, 'Network of the port.') }),
    nameSuffix: string('End of the name of the port.'),
    description: string('Description of the port.'),
    adminStateUp: boolean('Administrative state of the port.'),
    macAddress: string('MAC address of the port.'),
    fixedIPs: listOf(
      object({
        ipAddress: string('The address.'),
        ...(alpha === 4
          ? { subnetId: string('Id of the subnet.') }
          : { subnet: subnetFilter(alpha, 'Subnet of the address.') }),
      }),
      'Addresses of the port.',
    ),
    ...when(alpha < 7, {
      tenantId: string('Without effect.'),
      projectId: string('Without effect.'),
      securityGroups: list(string(), 'Ids of the security groups of the port.'),
    }),
    ...when(alpha >= 5, { securityGroupFilters: listOf(securityGroup(alpha), 'Security groups of the port.') }),
    allowedAddressPairs: list(
      object({ ipAddress: string('Address or range.'), macAddress: string('MAC address.') }),
      'Additional addresses the port may send from.',
    ),
    trunk: boolean('Make a trunk with this port as its parent.'),
    hostId: string('Host the port is bound to.'),
    vnicType: string('Kind of virtual card, as Neutron knows it.'),
    profile:
      alpha === 7
        ? object({ ovsHWOffload: boolean('Offload to the hardware.'), trustedVF: boolean('Trust the function.') })
        : stringMap('Binding profile of the port.'),
    disablePortSecurity: boolean('Switches port security off.'),
    tags: list(string(), 'Tags of the port.'),
    ...when(alpha >= 6, {
      propagateUplinkStatus: boolean('Tell the port when the uplink is down.'),
      valueSpecs: list(
        object({ name: string('Name of this entry.'), key: string('Key.'), value: string('Value.') }),
        'Additional keys and values for the request.',
      ),
    }),
  });

const network = (alpha: Alpha): UntypedField =>
  object({
    uuid: string('Id of the network.'),
    filter: networkFilter(alpha, 'Fields the network must have.'),
    ...(alpha < 4 ? { fixedIp: string('Without effect.') } : { fixedIP: string('Without effect.') }),
    subnets: listOf(subnetParam(alpha), 'One port is made per subnet.'),
  });

const rootVolume = (alpha: Alpha): UntypedField =>
  object(
    {
      diskSize: integer('Size in GiB.'),
      ...when(alpha < 5, {
        sourceType: string('Without effect.'),
        sourceUUID: string('Image for the volume.'),
        deviceType: string('Without effect.'),
      }),
      ...when(alpha >= 5, {
        volumeType: string('Volume type.'),
        availabilityZone: string('Availability zone of the volume; empty means the one of the machine.'),
      }),
    },
    'Boot from a volume instead of the disk of the flavor.',
  );

function blockDevices(): UntypedField {
  const { schema } = lenient(openStackMachineSpecV1beta1(), {
    adding: {
      'additionalBlockDevices.storage.volume.availabilityZone': {
        type: 'string',
        description: 'Availability zone of the volume; empty means the one of the machine.',
      },
    },
  });
  return { schema: propertyOf(schema, 'additionalBlockDevices'), isRequired: false };
}

export const alphaMachineSpec = (alpha: Alpha): UntypedField =>
  object(
    {
      ...identityFields(alpha),
      providerID: string('Id of the server as its Node carries it.'),
      instanceID: string('Id of the server.'),
      flavor: string('Name of the flavor.'),
      image: string('Name of the image.'),
      ...when(alpha >= 5, { imageUUID: string('Id of the image; wins over the name.') }),
      sshKeyName: string('Key pair put on the server.'),
      ...when(alpha < 7, {
        networks: listOf(network(alpha), 'Networks of the server.'),
        subnet: string('Without effect.'),
      }),
      ...when(alpha >= 4, { ports: listOf(port(alpha), 'Ports of the server.') }),
      ...when(alpha === 3, { userDataSecret: stringMap('Without effect.') }),
      floatingIP: string('Floating IP of a bastion.'),
      securityGroups: listOf(securityGroup(alpha), 'Security groups of the server.'),
      trunk: boolean('Whether ports get a trunk.'),
      tags: list(string(), 'Tags of the server.'),
      serverMetadata: stringMap('Metadata of the server.'),
      configDrive: boolean('Give the server its metadata on a drive.'),
      rootVolume: rootVolume(alpha),
      ...when(alpha === 7, { additionalBlockDevices: blockDevices() }),
      serverGroupID: string('Id of the server group of the server.'),
    },
    'Desired state.',
  );

const bastion = (alpha: Alpha): UntypedField =>
  object(
    {
      enabled: boolean('Whether there is a bastion.'),
      instance: alphaMachineSpec(alpha),
      availabilityZone: string('Availability zone of the bastion.'),
      ...when(alpha === 3, {
        flavor: string('Name of the flavor.'),
        image: string('Name of the image.'),
        sshKeyName: string('Key pair put on the server.'),
        networks: listOf(network(alpha), 'Networks of the bastion.'),
        floatingIP: string('Floating IP of the bastion.'),
        securityGroups: listOf(securityGroup(alpha), 'Security groups of the bastion.'),
      }),
    },
    'A jump host for the other servers.',
  );

const loadBalancer = (alpha: Alpha): UntypedField =>
  object(
    {
      enabled: boolean('Whether there is a load balancer.'),
      additionalPorts: list(integer(), 'Additional ports with a listener.'),
      allowedCidrs: list(string(), 'Addresses that may connect.'),
      ...when(alpha >= 6, { provider: string('Octavia provider.') }),
    },
    'Load balancer in front of the API servers.',
  );

const droppedKeyPair = (): UntypedField => anyValue('Without effect.');

export const alphaClusterSpec = (alpha: Alpha): UntypedField =>
  object(
    {
      ...identityFields(alpha),
      nodeCidr: string('Address range of a new subnet; empty means that an existing subnet is used.'),
      dnsNameservers: list(string(), 'Name servers given to the nodes.'),
      network: networkFilter(alpha, 'Existing network for the nodes.'),
      subnet: subnetFilter(alpha, 'Existing subnet for the nodes.'),
      externalNetworkId: string('Id of the external network.'),
      externalRouterIPs: listOf(
        object({
          fixedIP: string('Address of the router.'),
          subnet: alpha === 7 ? subnetFilter(alpha, 'Subnet of the address.') : subnetParam(alpha),
        }),
        'External addresses of the router.',
      ),
      disablePortSecurity: boolean('Switches port security off on the network.'),
      apiServerFloatingIP: string('External address of the Kubernetes API.'),
      apiServerFixedIP: string('Address of the Kubernetes API inside.'),
      apiServerPort: integer('Port of the Kubernetes API.'),
      managedSecurityGroups: boolean('Whether the controller creates security groups.'),
      tags: list(string(), 'Tags of all created resources.'),
      controlPlaneEndpoint: object(
        { host: string('Name or address.'), port: integer('Port.') },
        'Address of the Kubernetes API of the cluster.',
      ),
      controlPlaneAvailabilityZones: list(string(), 'Availability zones control plane machines may go to.'),
      bastion: bastion(alpha),
      ...when(alpha === 3, {
        useOctavia: boolean('Without effect: Octavia is always used.'),
        apiServerLoadBalancerFloatingIP: string('External address of the Kubernetes API.'),
        apiServerLoadBalancerPort: integer('Port of the Kubernetes API.'),
        disableServerTags: boolean('Without effect.'),
        caKeyPair: droppedKeyPair(),
        etcdCAKeyPair: droppedKeyPair(),
        frontProxyCAKeyPair: droppedKeyPair(),
        saKeyPair: droppedKeyPair(),
      }),
      ...when(alpha <= 4, {
        managedAPIServerLoadBalancer: boolean('Whether there is a load balancer.'),
        apiServerLoadBalancerAdditionalPorts: list(integer(), 'Additional ports with a listener.'),
      }),
      ...when(alpha >= 5, { apiServerLoadBalancer: loadBalancer(alpha) }),
      ...when(alpha >= 4, {
        disableAPIServerFloatingIP: boolean('Do not give the Kubernetes API a floating IP.'),
        allowAllInClusterTraffic: boolean('Allow all traffic between the nodes of the cluster.'),
      }),
      ...when(alpha >= 6, {
        controlPlaneOmitAvailabilityZone: boolean('Let the cloud choose the zone of control plane machines.'),
      }),
      ...when(alpha === 7, {
        router: networkFilter(alpha, 'Existing router to use.'),
        networkMtu: integer('Largest packet on the network.'),
      }),
    },
    'Desired state.',
  );

const propertyOf = (schema: Schema, name: string): Schema => must(schema.properties?.[name], name);

const rules = { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
const securityGroupRules = {
  'controlPlaneSecurityGroup.rules': rules,
  'workerSecurityGroup.rules': rules,
  'bastionSecurityGroup.rules': rules,
};

/** Until v1alpha6, subnets and router are nested in the network. */
export function alphaClusterStatus(alpha: Alpha): UntypedField {
  const { schema: current } = openStackClusterStatusV1beta1();
  const networkParts = {
    'network.subnet': must(propertyOf(propertyOf(current, 'network'), 'subnets').items, 'the schema of a subnet'),
    'network.router': propertyOf(current, 'router'),
    'network.apiServerLoadBalancer': propertyOf(current, 'apiServerLoadBalancer'),
  };
  return lenient(openStackClusterStatusV1beta1(), {
    without: [
      'initialization',
      'bastion.resolved',
      'bastion.resources',
      ...(alpha < 7 ? ['network.subnets', 'router', 'apiServerLoadBalancer'] : []),
    ],
    adding: { ...securityGroupRules, ...(alpha < 7 ? networkParts : {}) },
  });
}

export function alphaMachineStatus(alpha: Alpha): UntypedField {
  const text = { type: 'string' } as const;
  return lenient(openStackMachineStatusV1beta1(), {
    without: [
      'initialization',
      'instanceID',
      'resolved',
      'resources',
      ...(alpha <= 4 ? ['failureReason', 'failureMessage'] : []),
    ],
    adding: alpha <= 4 ? { errorReason: text, errorMessage: text } : {},
  });
}

export const alphaMachineTemplateSpec = (alpha: Alpha): UntypedField =>
  object({ template: object({ spec: alphaMachineSpec(alpha) }, 'Template of the machines.') }, 'Desired state.');
