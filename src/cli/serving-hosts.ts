import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { CapstanError } from '../machinery/index.ts';

export interface HostNames {
  hostname(): string;
  interfaces(): ReturnType<typeof networkInterfaces>;
}

export const systemHostNames: HostNames = { hostname, interfaces: networkInterfaces };

const always = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];
const hostPattern = /^(?:\*\.)?(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/i;

/** Parses `--tls-san`, which can be repeated and can contain commas. */
export function parseTlsSans(given: readonly string[]): string[] {
  const names = given
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().replace(/^\[(.*)\]$/, '$1'))
    .filter((name) => name !== '');
  for (const name of names) {
    if (isIP(name) !== 0 || (name.length <= 253 && hostPattern.test(name))) continue;
    throw new CapstanError('CAP_USAGE', `--tls-san: "${name}" is neither a DNS name nor an address`);
  }
  return names;
}

export function isWildcard(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::';
}

/**
 * Returns the names and addresses of the serving certificate: the requested ones, and those of the host if it listens
 * on all interfaces.
 */
export function servingHosts(host: string, sans: readonly string[], names: HostNames = systemHostNames): string[] {
  const found = isWildcard(host) ? [...hostName(names), ...addresses(names)] : [host];
  return [...new Set([...always, ...found, ...sans])];
}

/** Returns the host for kubeconfigs: the first given name, otherwise a reachable address. */
export function advertisedHost(host: string, sans: readonly string[], names: HostNames = systemHostNames): string {
  if (!isWildcard(host)) return host;
  const given = sans.find((san) => !san.startsWith('*.'));
  return given ?? addresses(names)[0] ?? (host === '::' ? '::1' : '127.0.0.1');
}

function hostName(names: HostNames): string[] {
  const name = names.hostname().toLowerCase();
  return hostPattern.test(name) ? [name] : [];
}

/** Returns reachable addresses, IPv4 first, without link-local ones. */
function addresses(names: HostNames): string[] {
  const all = Object.values(names.interfaces()).flatMap((entries) => entries ?? []);
  const usable = all.filter(
    ({ internal, address }) => !internal && !address.startsWith('fe80:') && !address.startsWith('169.254.'),
  );
  return [4, 6].flatMap((family) => usable.map(({ address }) => address).filter((address) => isIP(address) === family));
}
