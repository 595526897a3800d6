import type { Environment } from './read.ts';

/** Returns the proxy for `server` from HTTPS_PROXY or HTTP_PROXY, unless NO_PROXY excludes it. */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const url = new URL(server);
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  // Like Go's net/http, never uses a proxy for loopback.
  if (host === 'localhost' || host === '::1' || host.startsWith('127.')) return undefined;
  const pick = (name: string): string | undefined => env[name] || env[name.toLowerCase()] || undefined;
  const proxy = url.protocol === 'https:' ? pick('HTTPS_PROXY') : pick('HTTP_PROXY');
  if (proxy === undefined || excluded(host, url.port || (url.protocol === 'https:' ? '443' : '80'), pick('NO_PROXY'))) {
    return undefined;
  }
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function excluded(host: string, port: string, list: string | undefined): boolean {
  for (const raw of (list ?? '').split(',')) {
    let entry = raw.trim().toLowerCase();
    if (entry === '') continue;
    if (entry === '*') return true;
    const colon = entry.lastIndexOf(':');
    if (colon > 0 && entry.indexOf(':') === colon) {
      if (entry.slice(colon + 1) !== port) continue;
      entry = entry.slice(0, colon);
    }
    if (entry.includes('/')) {
      if (inIpv4Range(host, entry)) return true;
    } else if (entry.startsWith('.')) {
      if (host.endsWith(entry)) return true;
    } else if (host === entry || host.endsWith(`.${entry}`)) {
      return true;
    }
  }
  return false;
}

function inIpv4Range(host: string, range: string): boolean {
  const [base, bits] = range.split('/');
  const address = ipv4(host);
  const network = ipv4(base ?? '');
  const length = Number(bits);
  if (address === undefined || network === undefined || !(length >= 0 && length <= 32)) return false;
  if (length === 0) return true;
  const shift = 32 - length;
  return address >>> shift === network >>> shift;
}

function ipv4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0;
  for (const part of parts) {
    const octet = Number(part);
    if (part === '' || !(octet >= 0 && octet <= 255)) return undefined;
    value = value * 256 + octet;
  }
  return value >>> 0;
}
