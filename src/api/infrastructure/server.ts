import { deepEqual, type FieldError, fieldError, type ResourceStrategy } from '../../machinery/index.ts';
import { topologyDryRunAnnotation } from '../cluster/labels.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { ageColumn, textColumn } from '../kind/printer.ts';
import { boolean, type Field, list, object, once, string } from '../kind/schema.ts';
import { validateBlockDevicesAndPorts, withoutAddressPairs } from './admission.ts';
import { formerConditions, needed, networkParam } from './common-schema.ts';
import { isUnresolved, validateRegion } from './corrections.ts';
import { infrastructureGroup } from './group.ts';
import { machineCommonFields } from './machine-schema.ts';
import { portOptions, resolvedPort } from './port-schema.ts';
import type { OpenStackServer, OpenStackServerSpec, OpenStackServerStatus } from './types.ts';

const spec: () => Field<OpenStackServerSpec> = once(() => {
  const { providerID: _, sshKeyName, identityRef, securityGroups: __, ...common } = machineCommonFields('v1beta2');
  return object(
    {
      ...common,
      identityRef: identityRef.describe('Credentials.').required(),
      sshKeyName: sshKeyName.required(),
      flavor: string('Name of the flavor.', { minLength: 1 }),
      flavorID: string('Id of the flavor.', { minLength: 1 }),
      ports: list(portOptions(), 'Ports of the server, in this order.').required(),
      securityGroups: list(
        networkParam('security group', ''),
        'Security groups of every port, in addition to its own.',
      ),
      availabilityZone: string('Availability zone of the server.'),
      userDataRef: object(
        { name: string('Name of the Secret.').default('') },
        'Secret with the user data under the key value.',
        { 'x-kubernetes-map-type': 'atomic' },
      ),
    },
    'Desired state.',
  ).rule('(has(self.flavor) || has(self.flavorID))', 'at least one of flavor or flavorID must be set');
});

const status: () => Field<OpenStackServerStatus> = once(() =>
  object(
    {
      conditions: formerConditions(),
      ready: boolean('True while the server is ready.').default(false).required(),
      instanceID: string('Id of the server.'),
      instanceState: string('State of the server in the cloud.'),
      addresses: list(
        object({ type: string('Type of the address.').required(), address: string('The address.').required() }),
        'Addresses of the server.',
      ),
      resolved: object(
        {
          serverGroupID: string('Server group found.'),
          imageID: string('Image found.'),
          flavorID: string('Flavor found.'),
          ports: list(resolvedPort(), 'Resolved spec of the ports.'),
        },
        'Ids for the names and filters in the spec.',
      ),
      resources: object(
        { ports: list(object({ id: needed('v1beta2', 'Id of the port.') }), 'Created ports.') },
        'Created cloud resources.',
      ),
    },
    'Observed state.',
  ),
);

/** Credentials rotate and address pairs are updated on existing ports. All other changes need a new server. */
function fixedPart({ spec }: OpenStackServer): unknown {
  const { identityRef: _, ...rest } = spec ?? {};
  return withoutAddressPairs(rest);
}

const strategy: ResourceStrategy<OpenStackServer> = {
  validateCreate: (object): FieldError[] => validateBlockDevicesAndPorts(object.spec),
  validateUpdate(object, old, { dryRun }): FieldError[] {
    if (dryRun === true && object.metadata.annotations?.[topologyDryRunAnnotation] !== undefined) return [];
    const { spec } = object;
    if (isUnresolved(old)) return deepEqual(spec, old.spec) ? [] : validateBlockDevicesAndPorts(spec);
    if (deepEqual(fixedPart(object), fixedPart(old))) {
      return validateRegion(spec?.identityRef, old.spec?.identityRef, { isOpen: false });
    }
    const problem = 'OpenStackServer spec field is immutable. Please create a new resource instead.';
    return [fieldError.forbidden('spec', problem)];
  },
};

export const openStackServerKind: Kind<OpenStackServer> = defineKind<OpenStackServer>({
  group: infrastructureGroup,
  kind: 'OpenStackServer',
  plural: 'openstackservers',
  shortNames: ['oss'],
  description: 'A server in OpenStack with its ports and volumes.',
  labels: contractLabels('infrastructure-openstack'),
  strategy,
  hub: {
    name: 'v1alpha1',
    spec,
    status,
    columns: [
      textColumn('InstanceState', '.status.instanceState'),
      textColumn('Ready', '.status.ready'),
      textColumn('InstanceID', '.status.instanceID'),
      ageColumn,
    ],
  },
});
