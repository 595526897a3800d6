import {
  checkCidr,
  checkDns1123Subdomain,
  checkIp,
  type FieldError,
  fieldError,
  ipFamily,
} from '../../machinery/index.ts';
import type { KubernetesVersion } from '../cluster/version.ts';
import { invalid } from './validation.ts';

// Versions before and after a change of a hosted control plane.

export interface VersionChange {
  wanted: KubernetesVersion | undefined;
  /** version of the previous spec */
  before: KubernetesVersion | undefined;
  /** observed version of the control plane */
  running: KubernetesVersion | undefined;
}

/**
 * Allows upgrades by one minor version and refuses a version below the running one: an older API server may not read
 * what a newer one has stored. A spec that has not been acted on can be reverted.
 */
export function validatePlaneVersionChange({ wanted, before, running }: VersionChange, path: string): FieldError[] {
  const from = running ?? before;
  // Other checks report invalid versions.
  if (wanted === undefined || from === undefined) return [];
  const to = shortVersion(wanted);
  if (wanted.major !== from.major || wanted.minor > from.minor + 1) {
    const next = `v${from.major}.${from.minor + 1}`;
    const problem = `cannot go from ${shortVersion(from)} to ${to}: minor versions cannot be skipped, go to ${next} first`;
    return [fieldError.forbidden(path, problem)];
  }
  if (running !== undefined && wanted.minor < running.minor) {
    return [
      fieldError.forbidden(path, `cannot go back to ${to}: the control plane runs ${shortVersion(running)} already`),
    ];
  }
  return [];
}

const shortVersion = ({ major, minor, patch }: KubernetesVersion): string => `v${major}.${minor}.${patch}`;

/** Accepts names that a certificate can carry: IP addresses and DNS names, with a wildcard only as the first label. */
export function validateSans(sans: readonly string[] | undefined, path: string): FieldError[] {
  return (sans ?? []).flatMap((san, i) => {
    const problem = sanProblem(san);
    return problem === undefined ? [] : [fieldError.invalid(`${path}[${i}]`, san, problem)];
  });
}

function sanProblem(san: unknown): string | undefined {
  if (typeof san !== 'string') return 'must be a DNS name or an IP address';
  if (ipFamily(san) !== undefined) return undefined;
  const name = san.startsWith('*.') ? san.slice(2) : san;
  if (checkDns1123Subdomain(name.toLowerCase()).length === 0 && !/^[0-9.]+$/.test(name)) return undefined;
  const hint = san.includes('/') || /:[0-9]+$/.test(san) ? ', without scheme, port or path' : '';
  return `must be a DNS name or an IP address${hint}`;
}

/** Validates a host that clients connect to. */
export function validateHost(host: string | undefined, path: string): FieldError[] {
  if (host === undefined || host === '' || ipFamily(host) !== undefined) return [];
  const isName = checkDns1123Subdomain(host).length === 0 && !/^[0-9.]+$/.test(host);
  return isName ? [] : [fieldError.invalid(path, host, 'must be a DNS name or an IP address')];
}

export function validateCidrs(cidrs: readonly string[] | undefined, path: string): FieldError[] {
  return (cidrs ?? []).flatMap((cidr, i) => invalid(`${path}[${i}]`, cidr, checkCidr(cidr)));
}

export function validateAddresses(addresses: readonly string[] | undefined, path: string): FieldError[] {
  return (addresses ?? []).flatMap((address, i) => invalid(`${path}[${i}]`, address, checkIp(address)));
}

export function validatePort(port: number | undefined, path: string): FieldError[] {
  if (port === undefined || (port >= 1 && port <= 65535)) return [];
  return [fieldError.invalid(path, port, 'must be between 1 and 65535, inclusive')];
}

export function validateNotNegative(count: number | undefined, path: string): FieldError[] {
  if (count === undefined || count >= 0) return [];
  return [fieldError.invalid(path, count, 'must be greater than or equal to 0; 0 hibernates the control plane')];
}
