import { pythonRepr, pythonText } from '../../core/checks/python.ts';
import { formatCidr, parseCidr } from '../addressing/cidr.ts';
import { parseIp } from '../addressing/ip.ts';

/** Returns what is wrong with a value, or undefined. */
export type Check = (value: unknown) => string | undefined;

const uuidPattern = /^\{?(?:urn:uuid:)?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$/i;
const macPattern = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && uuidPattern.test(value);
}

export function string(maxLength: number): Check {
  return (value) => {
    if (typeof value !== 'string') return `'${pythonText(value)}' is not a valid string`;
    return value.length > maxLength ? `'${value}' exceeds maximum length of ${maxLength}` : undefined;
  };
}

export function orNull(check: Check): Check {
  return (value) => (value === null ? undefined : check(value));
}

export const uuid: Check = (value) => (isUuid(value) ? undefined : `'${pythonText(value)}' is not a valid UUID`);

export function oneOf(allowed: readonly unknown[]): Check {
  return (value) => (allowed.includes(value) ? undefined : `${pythonText(value)} is not in valid_values`);
}

export const nonNegative: Check = (value) =>
  (value as number) < 0 ? `'${pythonText(value)}' should be non-negative` : undefined;

export function range(least: number, most: number): Check {
  return (value) => {
    if ((value as number) < least) return `'${pythonText(value)}' is too small - must be at least '${least}'`;
    return (value as number) > most
      ? `'${pythonText(value)}' is too large - must be no larger than '${most}'`
      : undefined;
  };
}

export const mac: Check = (value) =>
  typeof value === 'string' && macPattern.test(value) && value !== '00:00:00:00:00:00'
    ? undefined
    : `'${pythonText(value)}' is not a valid MAC address`;

export const ip: Check = (value) =>
  typeof value === 'string' && parseIp(value) ? undefined : `'${pythonText(value)}' is not a valid IP address`;

export const subnet: Check = (value) => {
  const cidr = typeof value === 'string' ? parseCidr(value) : undefined;
  return cidr && (value as string).includes('/') ? undefined : `'${pythonText(value)}' is not a valid IP subnet`;
};

export const dictionaryOrNull: Check = (value) =>
  value === null || isDictionary(value) ? undefined : `'${pythonText(value)}' is not a dictionary`;

export function isDictionary(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks a list without duplicates and all of its items. */
export function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return `'${pythonText(value)}' is not a list`;
    const doubles = duplicatesOf(value);
    if (doubles.length > 0) return `Duplicate items in the list: '${doubles.map(pythonText).join(', ')}'`;
    for (const item of value) {
      const reason = check(item);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

function duplicatesOf(items: readonly unknown[]): unknown[] {
  const seen = new Set<string>();
  const doubles = new Map<string, unknown>();
  for (const item of items) {
    const key = JSON.stringify(item);
    if (seen.has(key)) doubles.set(key, item);
    seen.add(key);
  }
  return [...doubles.values()];
}

/** Checks for a dictionary with exactly these keys. */
function keys(value: unknown, expected: readonly string[]): string | undefined {
  if (!isDictionary(value)) {
    return `Invalid input. '${pythonText(value)}' must be a dictionary with keys: ${pythonRepr(expected)}`;
  }
  const provided = Object.keys(value);
  if (provided.length === expected.length && expected.every((key) => key in value)) return undefined;
  return `Validation of dictionary's keys failed. Expected keys: ${pythonSet(expected)} Provided keys: ${pythonSet(provided)}`;
}

function pythonSet(items: readonly string[]): string {
  return items.length === 0 ? 'set()' : `{${items.map(pythonRepr).join(', ')}}`;
}

export const ipPools: Check = (value) => {
  if (!Array.isArray(value)) return `Invalid data format for IP pool: '${pythonText(value)}'`;
  for (const pool of value) {
    const reason = keys(pool, ['end', 'start']) ?? ip(pool.end) ?? ip(pool.start);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

export const fixedIps: Check = (value) => {
  if (!Array.isArray(value)) return `Invalid data format for fixed IP: '${pythonText(value)}'`;
  const seen = new Set<unknown>();
  for (const fixed of value) {
    if (!isDictionary(fixed)) return `Invalid data format for fixed IP: '${pythonText(fixed)}'`;
    if ('ip_address' in fixed) {
      if (seen.has(fixed['ip_address'])) return `Duplicate IP address '${pythonText(fixed['ip_address'])}'`;
      seen.add(fixed['ip_address']);
      const reason = ip(fixed['ip_address']);
      if (reason !== undefined) return reason;
    }
    if ('subnet_id' in fixed) {
      const reason = uuid(fixed['subnet_id']);
      if (reason !== undefined) return reason;
    }
  }
  return undefined;
};

export const nameservers: Check = (value) => {
  if (!Array.isArray(value)) return `Invalid data format for nameserver: '${pythonText(value)}'`;
  const seen = new Set<unknown>();
  for (const host of value) {
    const reason = ip(host);
    if (reason !== undefined) return `'${pythonText(host)}' is not a valid nameserver. ${reason}`;
    if (seen.has(host)) return `Duplicate nameserver '${pythonText(host)}'`;
    seen.add(host);
  }
  return undefined;
};

export const routes: Check = (value) => {
  if (!Array.isArray(value)) return `Invalid data format for hostroute: '${pythonText(value)}'`;
  const seen = new Set<string>();
  for (const route of value) {
    const reason = keys(route, ['destination', 'nexthop']) ?? routeCidr(route.destination) ?? ip(route.nexthop);
    if (reason !== undefined) return reason;
    const key = `${route.destination} ${route.nexthop}`;
    if (seen.has(key)) return `Duplicate hostroute '${pythonText(route)}'`;
    seen.add(key);
  }
  return undefined;
};

const routeCidr: Check = (value) => {
  const cidr = typeof value === 'string' ? parseCidr(value) : undefined;
  if (!cidr || !(value as string).includes('/')) return `'${pythonText(value)}' is not a valid CIDR`;
  if (cidr.ip !== cidr.first) {
    return `'${pythonText(value)}' is not a recognized CIDR, '${formatCidr(cidr)}' is recommended`;
  }
  return undefined;
};

/** Checks a name of one or more labels. A domain ends with a dot. */
export function dnsName(maxLength: number, { isDomain }: { isDomain: boolean }): Check {
  const label = /^(?!-)[a-zA-Z0-9-]{1,63}(?<!-)$/;
  return (value) => {
    const fault = string(maxLength)(value);
    if (fault !== undefined || value === '') return fault;
    const text = value as string;
    if (isDomain && !text.endsWith('.')) return `'${text}' is not a FQDN`;
    for (const part of text.replace(/\.$/, '').split('.')) {
      if (label.test(part)) continue;
      const reason =
        part === ''
          ? 'Encountered an empty component'
          : `Name '${part}' must be 1-63 characters long, each of which can only be alphanumeric or a hyphen`;
      return `'${text}' not a valid PQDN or FQDN. Reason: ${reason}`;
    }
    return undefined;
  };
}
