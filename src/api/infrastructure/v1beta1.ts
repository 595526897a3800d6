import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { chain, each, field, fields, type Mapping } from '../kind/mapping.ts';
import { inverted, mapByName } from '../kind/values.ts';

/** Reason of conditions without one, because v1beta2 requires a reason. The value is Cluster API's. */
const noReason = 'NoReasonReported';

/** conditions with severity <-> standard conditions */
export const conditionsMapping: Mapping = each({
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { severity: _, ...rest } = value;
    return { ...rest, reason: rest['reason'] ?? noReason, message: rest['message'] ?? '' };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { observedGeneration: _, reason, message, ...rest } = value;
    return {
      ...rest,
      ...(reason === noReason ? {} : { reason }),
      ...(message === '' ? {} : { message }),
    };
  },
});

/**
 * v1beta2 has no `status.ready`. It is derived from the Ready condition, so the conversion down needs the whole status.
 */
const readyFromCondition: Mapping = {
  up: (value) => value,
  down(value) {
    if (!isJsonObject(value)) return undefined;
    return { ...value, ready: isReady(value['conditions']) };
  },
};

function isReady(conditions: JsonValue | undefined): boolean {
  return (
    Array.isArray(conditions) &&
    conditions.some((entry) => isJsonObject(entry) && entry['type'] === 'Ready' && entry['status'] === 'True')
  );
}

const resolvedMapping: Mapping = fields(
  field('ports', 'ports', each(fields(field('disablePortSecurity', 'enablePortSecurity', inverted)))),
);

/** Flavor by name (string) or by id (its own field) <-> one object with id or filter; the id wins. */
const flavorMapping: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { flavor, flavorID, ...rest } = value;
    if (typeof flavorID === 'string' && flavorID !== '') return { ...rest, flavor: { id: flavorID } };
    return typeof flavor === 'string' && flavor !== '' ? { ...rest, flavor: { filter: { name: flavor } } } : rest;
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { flavor, ...rest } = value;
    const result: JsonObject = rest;
    if (!isJsonObject(flavor)) return result;
    const name = isJsonObject(flavor['filter']) ? flavor['filter']['name'] : undefined;
    if (name !== undefined) result['flavor'] = name;
    if (flavor['id'] !== undefined) result['flavorID'] = flavor['id'];
    return result;
  },
};

export const machineSpecV1beta1: Mapping = chain(
  fields(field('ports', 'ports', each(fields(field('disablePortSecurity', 'enablePortSecurity', inverted))))),
  flavorMapping,
);

export const openStackMachineV1beta1: Mapping = fields(
  field('spec', 'spec', machineSpecV1beta1),
  field(
    'status',
    'status',
    chain(
      readyFromCondition,
      fields(field('conditions', 'conditions', conditionsMapping), field('resolved', 'resolved', resolvedMapping)),
    ),
  ),
);

export const openStackMachineTemplateV1beta1: Mapping = fields(
  field('spec', 'spec', fields(field('template', 'template', fields(field('spec', 'spec', machineSpecV1beta1))))),
  field('status', 'status', fields(field('conditions', 'conditions', conditionsMapping))),
);

const notEmptyList: Mapping = {
  up: (value) => (Array.isArray(value) && value.length > 0 ? value : undefined),
  down: (value) => value,
};

export const openStackClusterV1beta1: Mapping = fields(
  field(
    'spec',
    'spec',
    fields(
      field('apiServerPort', 'apiServer.port'),
      field('apiServerFixedIP', 'apiServer.fixedIP'),
      field('apiServerFloatingIP', 'apiServer.floatingIP'),
      field('disableAPIServerFloatingIP', 'apiServer.enableFloatingIP', inverted),
      field('apiServerLoadBalancer', 'apiServer.managedLoadBalancer'),
      field('disableExternalNetwork', 'enableExternalNetwork', inverted),
      field('networkMTU', 'managedNetwork.mtu'),
      field('disablePortSecurity', 'managedNetwork.enablePortSecurity', inverted),
      field('externalRouterIPs', 'managedRouter.externalIPs', notEmptyList),
      field(
        'managedSecurityGroups',
        'managedSecurityGroups',
        fields(field('allNodesSecurityGroupRules', 'clusterNodesSecurityGroupRules')),
      ),
      field('bastion', 'bastion', fields(field('spec', 'spec', machineSpecV1beta1))),
    ),
  ),
  field(
    'status',
    'status',
    chain(
      readyFromCondition,
      fields(
        field('conditions', 'conditions', conditionsMapping),
        field('apiServerLoadBalancer', 'apiServerManagedLoadBalancer'),
        field('failureDomains', 'failureDomains', mapByName),
        field('bastion', 'bastion', fields(field('resolved', 'resolved', resolvedMapping))),
      ),
    ),
  ),
);
