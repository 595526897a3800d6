import { conditions, deprecatedConditions } from '../cluster/common-schema.ts';
import {
  boolean,
  type Field,
  fieldOf,
  listKeyedBy,
  mapOf,
  object,
  once,
  oneOf,
  quantity,
  setOf,
  string,
  type UntypedField,
} from '../kind/schema.ts';
import { type Era, identityReference, int, needed, networkParam, plainList } from './common-schema.ts';
import { portOptions, portOptionsV1beta1, resolvedPort, resolvedPortV1beta1 } from './port-schema.ts';
import type {
  AdditionalBlockDevice,
  MachineResources,
  OpenStackMachineSpec,
  OpenStackMachineStatus,
  OpenStackMachineTemplateSpec,
  OpenStackMachineTemplateStatus,
  ResolvedMachine,
  SchedulerHint,
} from './types.ts';

const volumeFields = () => ({
  type: string('Volume type; absent means the default of the cloud.'),
  availabilityZone: object(
    {
      from: oneOf(['Name', 'Machine'], 'Whether the zone is set here or taken from the machine.').default('Name'),
      name: string('Name of the zone.', { minLength: 1, pattern: '^[^ ]+$' }),
    },
    'Availability zone of the volume.',
  ).rule(
    "!has(self.from) || self.from == 'Name' ? has(self.name) : !has(self.name)",
    "name is required when from is 'Name' or default",
  ),
});

const size = (era: Era): Field<number, true> => int(era, 'Size in GiB.', { minimum: 1 }).required();

const blockDevices = (era: Era): Field<AdditionalBlockDevice[]> =>
  listKeyedBy(
    ['name'],
    object({
      name: needed(era, 'Name of the device; root is reserved.'),
      sizeGiB: size(era),
      storage: object(
        {
          type: storageType(era).required(),
          volume: object(volumeFields(), 'Details of a volume.'),
        },
        'Storage of the device.',
      ).required(),
    }),
    'Additional block devices of the server.',
  );

const storageText = 'Local (ephemeral, from the flavor) or Volume (Cinder).';

/** v1beta1 leaves this check to the controller. */
function storageType(era: Era): Field<'Local' | 'Volume'> {
  return era === 'v1beta2'
    ? oneOf(['Local', 'Volume'], storageText)
    : fieldOf<'Local' | 'Volume'>(string(storageText).schema);
}

const schedulerHints = (era: Era): Field<SchedulerHint[]> =>
  listKeyedBy(
    ['name'],
    object({
      name: string('Name of the hint.', { minLength: 1 }).required(),
      value: object(
        {
          type: oneOf(['Bool', 'String', 'Number'], 'Name of the field that contains the value.').required(),
          bool: boolean('The value, if it is a boolean.'),
          string: string('The value, if it is a string.', { minLength: 1, maxLength: 255 }),
          number: int(era, 'The value, if it is a number.'),
        },
        'Value of the hint.',
      )
        .rule(
          "has(self.type) && self.type == 'Bool' ? has(self.bool) : !has(self.bool)",
          'bool is required when type is Bool, and forbidden otherwise',
        )
        .rule(
          "has(self.type) && self.type == 'Number' ? has(self.number) : !has(self.number)",
          'number is required when type is Number, and forbidden otherwise',
        )
        .rule(
          "has(self.type) && self.type == 'String' ? has(self.string) : !has(self.string)",
          'string is required when type is String, and forbidden otherwise',
        )
        .required(),
    }),
    'Additional hints for the scheduler of the cloud.',
  );

const metadataText = (era: Era, description: string): Field<string, true> =>
  needed(era, description, { maxLength: 255 });

type CommonName = Exclude<keyof OpenStackMachineSpec, 'flavor' | 'ports'>;

/** Fields that all kinds with a server share. */
export const machineCommonFields = (
  era: Era,
): { [K in CommonName]-?: Field<NonNullable<OpenStackMachineSpec[K]>, K extends 'image' ? true : false> } => ({
  providerID: string('Provider id of the server, equal to that of its Node; set by the controller.'),
  image: object(
    {
      id: string('Id of the image.', { format: 'uuid' }),
      filter: object(
        { name: string('Name of the image.'), tags: setOf(string(), 'Tags it must all have.') },
        'Fields the image must have.',
        { minProperties: 1 },
      ),
      imageRef: object({ name: needed(era, 'Name of the Image object.') }, 'An Image object in the same namespace.'),
    },
    'Boot image of the server.',
    { minProperties: 1, maxProperties: 1 },
  ).required(),
  sshKeyName: string('Key pair put on the server.'),
  securityGroups: plainList(
    era,
    networkParam('security group', ''),
    'Security groups of every port, in addition to its own.',
  ),
  trunk: boolean('Whether ports get a trunk by default.'),
  tags: setOf(string(), 'Tags of the server, its ports and trunks.'),
  serverMetadata: listKeyedBy(
    ['key'],
    object({ key: metadataText(era, 'Key.'), value: metadataText(era, 'Value.') }),
    'Metadata of the server.',
  ),
  configDrive: boolean('Give the server its metadata on a drive.'),
  rootVolume: object(
    { sizeGiB: size(era), ...volumeFields() },
    'Boot from a volume instead of the disk of the flavor.',
  ),
  additionalBlockDevices: blockDevices(era),
  serverGroup: object(
    {
      id: string('Id of the server group.', { format: 'uuid' }),
      filter: object({ name: string('Name of the server group.') }, 'Fields the server group must have.', {
        minProperties: 1,
      }),
    },
    'Server group of the server.',
    { minProperties: 1, maxProperties: 1 },
  ),
  identityRef: identityReference(era, 'Credentials; absent means those of the cluster.'),
  floatingIPPoolRef: object(
    {
      apiGroup: string('API group of the pool.'),
      kind: string('Kind of the pool.').required(),
      name: string('Name of the pool.').required(),
    },
    'Pool the server gets a floating IP from.',
    { 'x-kubernetes-map-type': 'atomic' },
  ),
  schedulerHintAdditionalProperties: schedulerHints(era),
});

const specDescription = 'Desired state.';
const portsDescription = 'Ports of the server, in this order; absent means one on the network of the cluster.';
const resolvedPortsDescription = 'Resolved spec of the ports.';

export const openStackMachineSpec: () => Field<OpenStackMachineSpec> = once(() => {
  return object(
    {
      ...machineCommonFields('v1beta2'),
      flavor: object(
        {
          id: string('Id of the flavor.'),
          filter: object({ name: string('Name of the flavor.') }, 'Fields the flavor must have.', { minProperties: 1 }),
        },
        'Flavor of the server.',
        { minProperties: 1, maxProperties: 1 },
      ).required(),
      ports: plainList('v1beta2', portOptions(), portsDescription),
    },
    specDescription,
  );
});

export const openStackMachineSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...machineCommonFields('v1beta1'),
      flavor: string('Name of the flavor.', { minLength: 1 }),
      flavorID: string('Id of the flavor.', { minLength: 1 }),
      ports: plainList('v1beta1', portOptionsV1beta1(), portsDescription),
    },
    specDescription,
  ).rule('(has(self.flavor) || has(self.flavorID))', 'at least one of flavor or flavorID must be set'),
);

const resolvedIds = () => ({
  serverGroupID: string('Server group found.'),
  imageID: string('Image found.'),
  flavorID: string('Flavor found.'),
});
const resolvedDescription = 'Ids for the names and filters in the spec.';

export const resolvedMachine: () => Field<ResolvedMachine> = once(() =>
  object(
    {
      ...resolvedIds(),
      ports: plainList('v1beta2', resolvedPort(), resolvedPortsDescription),
    },
    resolvedDescription,
  ),
);

export const resolvedMachineV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...resolvedIds(),
      ports: plainList('v1beta1', resolvedPortV1beta1(), resolvedPortsDescription),
    },
    resolvedDescription,
  ),
);

export const machineResources = (era: Era): Field<MachineResources> =>
  object(
    { ports: plainList(era, object({ id: needed(era, 'Id of the port.') }), 'Created ports.') },
    'Created cloud resources.',
  );

const machineStatusFields = () => ({
  initialization: object(
    { provisioned: boolean('True once the server has been provided; never becomes false again.') },
    'Progress of the first provisioning.',
  ),
  instanceID: string('Id of the server.'),
  instanceState: string('State of the server in the cloud.'),
});
const address = (): Field<{ type: string; address: string }> =>
  object({ type: string('Type of the address.').required(), address: string('The address.').required() });

export const openStackMachineStatus: () => Field<OpenStackMachineStatus> = once(() =>
  object(
    {
      ...machineStatusFields(),
      conditions: conditions(),
      addresses: plainList('v1beta2', address(), 'Addresses of the server.'),
      resolved: resolvedMachine(),
      resources: machineResources('v1beta2'),
    },
    'Observed state.',
  ),
);

export const openStackMachineStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...machineStatusFields(),
      conditions: deprecatedConditions(),
      addresses: plainList('v1beta1', address(), 'Addresses of the server.'),
      ready: boolean('True while the server is ready.'),
      failureReason: string('Reason of a terminal failure of the object.'),
      failureMessage: string('Message about a terminal failure of the object.'),
      resolved: resolvedMachineV1beta1(),
      resources: machineResources('v1beta1'),
    },
    'Observed state.',
  ),
);

const templateStatusFields = () => ({
  capacity: mapOf(quantity(), 'Capacity of a machine from this template.'),
  nodeInfo: object(
    { operatingSystem: string('Operating system of the image.') },
    'Properties of a Node from this template.',
    { minProperties: 1 },
  ),
});

export const openStackMachineTemplateSpec: () => Field<OpenStackMachineTemplateSpec> = once(() =>
  object(
    {
      template: object(
        { spec: openStackMachineSpec().describe('Spec of the machines.').required() },
        'Template of the machines.',
      ).required(),
    },
    specDescription,
  ),
);

export const openStackMachineTemplateSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      template: object(
        { spec: { schema: openStackMachineSpecV1beta1().schema, isRequired: true } },
        'Template of the machines.',
      ).required(),
    },
    specDescription,
  ),
);

export const openStackMachineTemplateStatus: () => Field<OpenStackMachineTemplateStatus> = once(() =>
  object({ ...templateStatusFields(), conditions: conditions() }, 'Observed state.'),
);

export const openStackMachineTemplateStatusV1beta1: () => UntypedField = once(() =>
  object({ ...templateStatusFields(), conditions: deprecatedConditions() }, 'Observed state.'),
);
