import {
  deepEqual,
  type FieldError,
  fieldError,
  isJsonObject,
  type ResourceStrategy,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { topologyDryRunAnnotation } from '../cluster/labels.ts';
import { hasNoServer, type OpenParts, openPartsOf, validateRegion, withoutOpenParts } from './corrections.ts';
import { validateNetworks } from './network-validation.ts';
import type {
  ManagedSecurityGroups,
  ManagedSubnet,
  OpenStackCluster,
  OpenStackClusterSpec,
  OpenStackMachine,
  OpenStackMachineSpec,
  OpenStackMachineTemplate,
  SubnetParam,
} from './types.ts';

const ruleLists = [
  'clusterNodesSecurityGroupRules',
  'controlPlaneNodesSecurityGroupRules',
  'workerNodesSecurityGroupRules',
] as const;

export const openStackClusterStrategy: ResourceStrategy<OpenStackCluster> = {
  prepareForApply: (applied, live) => leaveFilledInAddress(applied, live),
  prepareForUpdate: (draft, old) => keepFilledInAddress(draft, old),
  validateCreate: (object) => validateClusterSpec(object.spec, 'spec'),
  validateUpdate: (object, old) => validateClusterUpdate(object, old),
};

/**
 * Keeps the API address that the control plane provider filled in. Manifests leave it empty, so applying them again
 * must not clear it.
 */
function keepFilledInAddress({ spec }: OpenStackCluster, { spec: before }: OpenStackCluster): void {
  const filledIn = filledInAddress(before);
  if (filledIn !== undefined && spec?.apiServer?.fixedIP === '') spec.apiServer.fixedIP = filledIn;
}

/** Does the same for server-side apply: an empty address does not conflict with the provider that filled it in. */
function leaveFilledInAddress(applied: UnstructuredObject, { spec: before }: OpenStackCluster): void {
  if (filledInAddress(before) === undefined || !isJsonObject(applied.spec)) return;
  const { apiServer } = applied.spec;
  if (isJsonObject(apiServer) && apiServer['fixedIP'] === '') delete apiServer['fixedIP'];
  // its name before v1beta2
  if (applied.spec['apiServerFixedIP'] === '') delete applied.spec['apiServerFixedIP'];
}

function filledInAddress(spec: OpenStackClusterSpec | undefined): string | undefined {
  const address = spec?.apiServer?.fixedIP ?? '';
  return address !== '' && address === spec?.controlPlaneEndpoint?.host ? address : undefined;
}

/** Validates the spec of an OpenStackCluster or of its template. */
export function validateClusterSpec(spec: OpenStackClusterSpec | undefined, path: string): FieldError[] {
  if (spec === undefined) return [];
  return [...validateRules(spec.managedSecurityGroups, path), ...validateNetworks(spec, path)];
}

function validateRules(groups: ManagedSecurityGroups | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const list of ruleLists) {
    groups?.[list]?.forEach((rule, i) => {
      const given = [rule.remoteManagedGroups, rule.remoteGroupID, rule.remoteIPPrefix].filter((v) => v !== undefined);
      if (given.length < 2) return;
      errors.push(
        fieldError.forbidden(
          `${path}.managedSecurityGroups.${list}[${i}]`,
          'only one of remoteManagedGroups, remoteGroupID, or remoteIPPrefix can be set',
        ),
      );
    });
  }
  return errors;
}

function validateClusterUpdate(cluster: OpenStackCluster, old: OpenStackCluster): FieldError[] {
  if (cluster.spec === undefined || old.spec === undefined) return [];
  const errors: FieldError[] = [];
  if (cluster.spec.bastion === undefined && old.spec.bastion !== undefined && old.spec.bastion.enabled !== false) {
    errors.push(fieldError.forbidden('spec.bastion', 'cannot be removed before disabling it'));
  }
  if (!deepEqual(cluster.spec, old.spec)) errors.push(...validateClusterSpec(cluster.spec, 'spec'));
  const open = openPartsOf(old);
  errors.push(...validateRegion(cluster.spec.identityRef, old.spec.identityRef, { isOpen: open.all }));
  if (!open.subnets) errors.push(...validateManagedSubnets(cluster.spec.managedSubnets, old.spec.managedSubnets));
  if (errors.length > 0 || open.all) return errors;
  const [after, before] = [withoutOpenParts(cluster.spec, open), withoutOpenParts(old.spec, open)];
  const reduced = { ...old, spec: before };
  const changed = changedFields(fixedPart(after, reduced), fixedPart(before, reduced, after));
  if (changed.length > 0) {
    errors.push(fieldError.forbidden('spec', `cannot be modified${whatIsOpen(open)}; changed: ${changed.join(', ')}`));
  }
  return errors;
}

/** Lists what differs, by its shortest path; lists are one value. */
function changedFields(after: unknown, before: unknown, path = ''): string[] {
  if (deepEqual(after, before)) return [];
  if (!isJsonObject(after) || !isJsonObject(before)) return [path];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    changedFields(after[name], before[name], path === '' ? name : `${path}.${name}`),
  );
}

/** Lists the fields that can still be corrected, for the error message. */
function whatIsOpen(open: OpenParts): string {
  const fields = [
    ...(open.outside ? ['externalNetwork'] : []),
    ...(open.subnets ? ['managedSubnets'] : []),
    ...(open.router ? ['router'] : []),
    ...(open.endpoint ? ['apiServer'] : []),
  ];
  return fields.length === 0 ? '' : ` except for ${fields.join(', ')}, of which nothing was made yet`;
}

function validateManagedSubnets(subnets: ManagedSubnet[] | undefined, old: ManagedSubnet[] | undefined): FieldError[] {
  if (subnets === undefined || old === undefined) return [];
  if (subnets.length !== old.length) {
    return [fieldError.forbidden('spec.managedSubnets', 'cannot add or remove subnets')];
  }
  return subnets
    .filter((subnet) => !old.some((before) => before.cidr === subnet.cidr))
    .map((subnet) =>
      fieldError.forbidden('spec.managedSubnets', `cannot change subnet CIDR from existing value to ${subnet.cidr}`),
    );
}

/**
 * Returns the part of a spec that is immutable in the state of the old object. `next` is the new spec: some fields may
 * be set once, or replaced by their resolved values.
 */
function fixedPart(
  spec: OpenStackClusterSpec,
  old: OpenStackCluster,
  next: OpenStackClusterSpec = spec,
): Record<string, unknown> {
  const before = old.spec;
  const {
    identityRef: _identity,
    bastion: _bastion,
    controlPlaneAvailabilityZones: _zones,
    controlPlaneOmitAvailabilityZone: _omit,
    primarySubnet: _primary,
    managedSecurityGroups,
    managedSubnets,
    controlPlaneEndpoint,
    apiServer,
    network,
    subnets,
    ...fixed
  } = spec;
  const status = old.status;
  const endpointIsOpen = (before.controlPlaneEndpoint?.host ?? '') === '';
  const networkFound = next.network?.id !== undefined && next.network.id === status?.network?.id;
  const subnetsFound =
    next.network !== undefined && before.network !== undefined && subnetsBecomeIds(next.subnets, before.subnets, old);
  return {
    ...fixed,
    managedSecurityGroups: managedSecurityGroups !== undefined || next.managedSecurityGroups !== undefined,
    managedSubnets: managedSubnets?.map(({ dnsNameservers: _, ...subnet }) => subnet),
    controlPlaneEndpoint: endpointIsOpen ? undefined : controlPlaneEndpoint,
    apiServer: fixedApiServer(apiServer, old, next.apiServer),
    network: networkFound && before.network !== undefined ? undefined : network,
    subnets: subnetsFound ? undefined : subnets,
  };
}

type ApiServer = NonNullable<OpenStackClusterSpec['apiServer']>;

function fixedApiServer(
  apiServer: ApiServer | undefined,
  old: OpenStackCluster,
  next: ApiServer | undefined,
): Record<string, unknown> {
  const before = old.spec.apiServer;
  const { fixedIP, port, floatingIP, managedLoadBalancer, ...rest } = apiServer ?? {};
  const withoutFloatingIP = before?.enableFloatingIP === false;
  const loadBalancerIP = old.status?.apiServerManagedLoadBalancer?.ip;
  const { allowedCIDRs: _cidrs, monitor: _monitor, ...loadBalancer } = managedLoadBalancer ?? {};
  // A load balancer that was never created can be disabled. This helps control planes that bring their own endpoint.
  const isDropped =
    old.status?.apiServerManagedLoadBalancer === undefined && next?.managedLoadBalancer?.enabled === false;
  return {
    ...rest,
    fixedIP: withoutFloatingIP && (before?.fixedIP ?? '') === '' ? undefined : fixedIP,
    port: withoutFloatingIP && before?.port === undefined ? undefined : port,
    floatingIP:
      loadBalancerIP !== undefined && (floatingIP ?? loadBalancerIP) === loadBalancerIP ? undefined : floatingIP,
    managedLoadBalancer: managedLoadBalancer === undefined || isDropped ? undefined : loadBalancer,
  };
}

/** Filters may be replaced by the ids of the subnets they resolved to. */
function subnetsBecomeIds(
  subnets: SubnetParam[] | undefined,
  before: SubnetParam[] | undefined,
  old: OpenStackCluster,
): boolean {
  const found = old.status?.network?.subnets ?? [];
  if (subnets === undefined || before === undefined || subnets.length !== before.length || found.length === 0) {
    return false;
  }
  return subnets.every((subnet, i) => {
    const was = before[i];
    if (deepEqual(subnet, was)) return true;
    return (
      subnet.id !== undefined &&
      was?.filter !== undefined &&
      found.some(({ name, id }) => name === was.filter?.name && id === subnet.id)
    );
  });
}

export function validateBlockDevicesAndPorts(
  spec: Pick<OpenStackMachineSpec, 'rootVolume' | 'additionalBlockDevices' | 'ports'> | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  if (spec?.rootVolume !== undefined && spec.additionalBlockDevices?.some(({ name }) => name === 'root') === true) {
    errors.push(
      fieldError.forbidden(
        'spec.additionalBlockDevices',
        'cannot contain a device named "root" when rootVolume is set',
      ),
    );
  }
  for (const port of spec?.ports ?? []) {
    if (port.enablePortSecurity === false && (port.securityGroups?.length ?? 0) > 0) {
      errors.push(
        fieldError.forbidden('spec.ports', 'cannot have security groups when EnablePortSecurity is set to false'),
      );
    }
  }
  return errors;
}

export const openStackMachineStrategy: ResourceStrategy<OpenStackMachine> = {
  validateCreate: (object) => validateBlockDevicesAndPorts(object.spec),
  validateUpdate(object, old) {
    const { spec } = object;
    const isOpen = hasNoServer(old);
    if (isOpen) return deepEqual(spec, old['spec']) ? [] : validateBlockDevicesAndPorts(spec);
    const fixed = (machine: OpenStackMachine): unknown => {
      const { providerID: _id, identityRef: _identity, ...rest } = machine.spec ?? {};
      return withoutAddressPairs(rest);
    };
    if (!deepEqual(fixed(object), fixed(old))) {
      return [fieldError.forbidden('spec', 'cannot be modified once the machine has a server')];
    }
    return validateRegion(spec?.identityRef, old.spec?.identityRef, { isOpen: false });
  },
};

/** Allowed address pairs are updated on existing ports, so they are mutable. */
export function withoutAddressPairs(spec: Partial<Pick<OpenStackMachineSpec, 'ports'>> | undefined): unknown {
  return { ...spec, ports: spec?.ports?.map(({ allowedAddressPairs: _, ...port }) => port) };
}

export const openStackMachineTemplateStrategy: ResourceStrategy<OpenStackMachineTemplate> = {
  validateCreate(object) {
    return object.spec?.template?.spec?.providerID === undefined
      ? []
      : [fieldError.forbidden('spec.template.spec.providerID', 'cannot be set in templates')];
  },
  validateUpdate(object, old, { dryRun }) {
    // The topology controller compares objects by dry-run server-side apply, so its dry-run requests may change every
    // field.
    if (dryRun === true && object.metadata.annotations?.[topologyDryRunAnnotation] !== undefined) return [];
    const spec = object.spec?.template?.spec;
    if (deepEqual(withoutAddressPairs(spec), withoutAddressPairs(old.spec?.template?.spec))) return [];
    return [
      fieldError.invalid(
        'spec.template.spec',
        spec,
        'OpenStackMachineTemplate spec.template.spec field is immutable. Please create a new resource instead. Ref doc: https://cluster-api.sigs.k8s.io/tasks/change-machine-template.html',
      ),
    ];
  },
};
