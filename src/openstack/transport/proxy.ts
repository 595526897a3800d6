import { BlockList, isIP } from 'node:net';
import type { Environment } from '../config/environment.ts';

/**
 * Returns the proxy for `target` from the usual variables: HTTPS_PROXY or HTTP_PROXY, else ALL_PROXY, in lower or upper
 * case, unless NO_PROXY excludes the host. Loopback never uses a proxy.
 */
export function proxyFor(target: URL, env: Environment): string | undefined {
  const host = target.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return undefined;
  const pick = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  const proxy = pick(target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? pick('ALL_PROXY');
  if (proxy === undefined) return undefined;
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  if (isExcluded(host, port, pick('NO_PROXY') ?? '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/**
 * Entries are names (including subdomains), addresses, networks such as `10.0.0.0/8`, each with an optional port, or
 * `*`.
 */
function isExcluded(host: string, port: string, list: string): boolean {
  for (const raw of list.split(',')) {
    const entry = raw.trim().toLowerCase();
    if (entry === '') continue;
    if (entry === '*' || covers(entry, host, port)) return true;
  }
  return false;
}

function covers(entry: string, host: string, port: string): boolean {
  const withPort = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry);
  if (withPort && withPort[2] !== port) return false;
  const name = (withPort?.[1] ?? entry).replace(/^\[|\]$/g, '');
  const [network, prefix] = name.split('/') as [string, string?];
  const version = isIP(network);
  if (version === 0) {
    const bare = name.replace(/^\*?\./, '');
    return host === bare || host.endsWith(`.${bare}`);
  }
  if (isIP(host) !== version) return false;
  const bits = prefix === undefined ? (version === 4 ? 32 : 128) : Number(prefix);
  if (!Number.isInteger(bits) || bits < 0 || bits > (version === 4 ? 32 : 128)) return false;
  const block = new BlockList();
  const family = version === 4 ? 'ipv4' : 'ipv6';
  block.addSubnet(network, bits, family);
  return block.check(host, family);
}
