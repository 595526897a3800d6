import { cidrFamily, type FieldError, fieldError, ipFamily, ipToBigInt } from '../../machinery/index.ts';
import { cidrsOverlap } from '../common/cidr.ts';
import type { ManagedSubnet, OpenStackClusterSpec, SecurityGroupRule } from './types.ts';

// Checks early what Neutron and Octavia would refuse minutes later, as far as it is wrong in every cloud.

const notAnAddress = 'not a valid IP address';

/** An empty address counts as absent. */
function checkAddress(address: string | undefined, path: string): FieldError[] {
  return address === undefined || address === '' || ipFamily(address) !== undefined
    ? []
    : [fieldError.invalid(path, address, notAnAddress)];
}

function checkCidr(cidr: string | undefined, path: string): FieldError[] {
  return cidr === undefined || cidr === '' || cidrFamily(cidr) !== undefined
    ? []
    : [fieldError.invalid(path, cidr, `invalid CIDR address: ${cidr}`)];
}

export function validateNetworks(spec: OpenStackClusterSpec, path: string): FieldError[] {
  const { apiServer, bastion, managedSubnets, managedSecurityGroups } = spec;
  const rules = Object.entries(managedSecurityGroups ?? {}).filter((entry): entry is [string, SecurityGroupRule[]] =>
    Array.isArray(entry[1]),
  );
  return [
    ...validateSubnets(managedSubnets ?? [], `${path}.managedSubnets`),
    ...checkAddress(apiServer?.fixedIP, `${path}.apiServer.fixedIP`),
    ...checkAddress(apiServer?.floatingIP, `${path}.apiServer.floatingIP`),
    ...(apiServer?.managedLoadBalancer?.allowedCIDRs ?? []).flatMap((cidr, i) =>
      checkAddressOrCidr(cidr, `${path}.apiServer.managedLoadBalancer.allowedCIDRs[${i}]`),
    ),
    ...checkAddress(bastion?.floatingIP, `${path}.bastion.floatingIP`),
    ...rules.flatMap(([name, list]) =>
      list.flatMap((rule, i) => validateRule(rule, `${path}.managedSecurityGroups.${name}[${i}]`)),
    ),
  ];
}

/** A single address is accepted as a range of one address. */
function checkAddressOrCidr(value: string, path: string): FieldError[] {
  return ipFamily(value) === undefined ? checkCidr(value, path) : [];
}

function validateSubnets(subnets: readonly ManagedSubnet[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  subnets.forEach((subnet, i) => {
    const problems = checkCidr(subnet.cidr, `${path}[${i}].cidr`);
    errors.push(...problems);
    subnet.dnsNameservers?.forEach((server, j) => {
      errors.push(...checkAddress(server, `${path}[${i}].dnsNameservers[${j}]`));
    });
    if (problems.length > 0 || (subnet.cidr ?? '') === '') return;
    errors.push(...validatePools(subnet, `${path}[${i}].allocationPools`));
    for (const other of subnets.slice(0, i)) {
      if (!cidrsOverlap(subnet.cidr, other.cidr)) continue;
      errors.push(fieldError.invalid(`${path}[${i}].cidr`, subnet.cidr, `overlaps with ${other.cidr}`));
    }
  });
  return errors;
}

function validatePools({ cidr, allocationPools }: ManagedSubnet, path: string): FieldError[] {
  const errors: FieldError[] = [];
  allocationPools?.forEach(({ start, end }, i) => {
    const problems = [...checkAddress(start, `${path}[${i}].start`), ...checkAddress(end, `${path}[${i}].end`)];
    errors.push(...problems);
    if (problems.length > 0 || !start || !end) return;
    for (const [name, address] of Object.entries({ start, end })) {
      if (cidrsOverlap(cidr, `${address}/${ipFamily(address) === 'IPv4' ? 32 : 128}`)) continue;
      errors.push(fieldError.invalid(`${path}[${i}].${name}`, address, `is not in ${cidr}`));
    }
    if (ipToBigInt(start) > ipToBigInt(end)) {
      errors.push(fieldError.invalid(`${path}[${i}].end`, end, `must not be before start ${start}`));
    }
  });
  return errors;
}

function validateRule(rule: SecurityGroupRule, path: string): FieldError[] {
  const errors = checkAddressOrCidr(rule.remoteIPPrefix ?? '', `${path}.remoteIPPrefix`);
  const { portRangeMin, portRangeMax } = rule;
  if (portRangeMin !== undefined && portRangeMax !== undefined && portRangeMin > portRangeMax) {
    const problem = `must not be less than portRangeMin ${portRangeMin}`;
    errors.push(fieldError.invalid(`${path}.portRangeMax`, portRangeMax, problem));
  }
  return errors;
}
