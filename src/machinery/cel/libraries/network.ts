import { formatIp, isIpv4Mapped, maskAddress, parseCidr, parseIp } from '../../net/ip.ts';
import { defineFunction, defineMethod } from '../library.ts';
import { CelError, CelList, CidrBlock, EntryMap, IpAddress, Opaque, sameBytes } from '../values.ts';

/** Parses an address. IPv4-mapped IPv6 addresses and zones are rejected. */
function toIp(text: string): IpAddress {
  const bytes = parseIp(text);
  if (!bytes) {
    const quoted = JSON.stringify(text);
    throw new CelError(
      `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`,
    );
  }
  if (isIpv4Mapped(bytes)) throw new CelError('IPv4-mapped IPv6 address is not allowed');
  return new IpAddress(bytes);
}

function toCidr(text: string): CidrBlock {
  const parsed = parseCidr(text);
  if (!parsed) throw new CelError('network address parse error during conversion from string');
  if (isIpv4Mapped(parsed.address)) throw new CelError('IPv4-mapped IPv6 address is not allowed');
  return new CidrBlock(parsed.address, parsed.prefixLength);
}

function succeeds(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

defineFunction('ip(string): IP', ([text]) => toIp(text as string));
defineFunction('isIP(string): bool', ([text]) => succeeds(() => toIp(text as string)));
defineFunction('ip.isCanonical(string): bool', ([text]) => formatIp(toIp(text as string).bytes) === text);
defineMethod('family(IP): int', ([ip]) => ((ip as IpAddress).bytes.length === 4 ? 4n : 6n));
defineMethod('isUnspecified(IP): bool', ([ip]) => (ip as IpAddress).bytes.every((byte) => byte === 0));
defineMethod('isLoopback(IP): bool', ([ip]) => isLoopback((ip as IpAddress).bytes));
defineMethod('isLinkLocalMulticast(IP): bool', ([ip]) => {
  const { bytes } = ip as IpAddress;
  return bytes.length === 4
    ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
    : bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 0x02;
});
defineMethod('isLinkLocalUnicast(IP): bool', ([ip]) => isLinkLocalUnicast((ip as IpAddress).bytes));
defineMethod('isGlobalUnicast(IP): bool', ([ip]) => {
  const { bytes } = ip as IpAddress;
  const [first = 0] = bytes;
  const multicast = bytes.length === 4 ? first >= 224 && first < 240 : first === 0xff;
  const broadcast = bytes.length === 4 && bytes.every((byte) => byte === 255);
  const unspecified = bytes.every((byte) => byte === 0);
  return !multicast && !broadcast && !unspecified && !isLoopback(bytes) && !isLinkLocalUnicast(bytes);
});

function isLoopback(bytes: Uint8Array): boolean {
  return bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
}

function isLinkLocalUnicast(bytes: Uint8Array): boolean {
  return bytes.length === 4
    ? bytes[0] === 169 && bytes[1] === 254
    : bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;
}

function containsIp(block: CidrBlock, ip: IpAddress): boolean {
  return (
    block.address.length === ip.bytes.length &&
    sameBytes(maskAddress(block.address, block.prefixLength), maskAddress(ip.bytes, block.prefixLength))
  );
}

function containsCidr(block: CidrBlock, other: CidrBlock): boolean {
  const first = new IpAddress(maskAddress(other.address, other.prefixLength));
  return block.prefixLength <= other.prefixLength && containsIp(block, first);
}

defineFunction('cidr(string): CIDR', ([text]) => toCidr(text as string));
defineFunction('isCIDR(string): bool', ([text]) => succeeds(() => toCidr(text as string)));
defineMethod('containsIP(CIDR, string): bool', ([cidr, text]) => containsIp(cidr as CidrBlock, toIp(text as string)));
defineMethod('containsIP(CIDR, IP): bool', ([cidr, ip]) => containsIp(cidr as CidrBlock, ip as IpAddress));
defineMethod('containsCIDR(CIDR, string): bool', ([cidr, text]) =>
  containsCidr(cidr as CidrBlock, toCidr(text as string)),
);
defineMethod('containsCIDR(CIDR, CIDR): bool', ([cidr, other]) => containsCidr(cidr as CidrBlock, other as CidrBlock));
defineMethod('ip(CIDR): IP', ([cidr]) => new IpAddress((cidr as CidrBlock).address));
defineMethod('prefixLength(CIDR): int', ([cidr]) => BigInt((cidr as CidrBlock).prefixLength));
defineMethod('masked(CIDR): CIDR', ([cidr]) => {
  const { address, prefixLength } = cidr as CidrBlock;
  return new CidrBlock(maskAddress(address, prefixLength), prefixLength);
});

/** A URL split as by Go's url.ParseRequestURI, without normalization. */
class UrlValue extends Opaque {
  readonly typeName = 'kubernetes.URL';
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(text: string, parts: { scheme: string; host: string; path: string; query: string }) {
    super();
    this.text = text;
    this.scheme = parts.scheme;
    this.host = parts.host;
    this.path = parts.path;
    this.query = parts.query;
  }

  equals(other: Opaque): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}

const absolute = /^([A-Za-z][-+.A-Za-z0-9]*):(?:\/\/([^/?]*))?([^?]*)(?:\?(.*))?$/s;
const hostPattern = /^(?:\[[0-9A-Fa-f:.%]+\]|[^:[\]\s<>"^`{|}\\]*)(?::[0-9]*)?$/;

function toUrl(text: string): UrlValue {
  const fail = (): CelError =>
    new CelError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Go refuses control characters in URLs
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) throw fail();
  if (text.startsWith('/')) {
    const [path, query = ''] = splitOnce(text, '?');
    if (/%(?![0-9a-fA-F]{2})/.test(path)) throw fail();
    return new UrlValue(text, { scheme: '', host: '', path, query });
  }
  const match = absolute.exec(text);
  if (!match) throw fail();
  const [, scheme = '', authority = '', path = '', query = ''] = match;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (!hostPattern.test(host) || /%(?![0-9a-fA-F]{2})/.test(path)) throw fail();
  return new UrlValue(text, { scheme: scheme.toLowerCase(), host, path, query });
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

defineFunction('url(string): URL', ([text]) => toUrl(text as string));
defineFunction('isURL(string): bool', ([text]) => succeeds(() => toUrl(text as string)));
defineMethod('getScheme(URL): string', ([url]) => (url as UrlValue).scheme);
defineMethod('getHost(URL): string', ([url]) => (url as UrlValue).host);
defineMethod('getHostname(URL): string', ([url]) =>
  (url as UrlValue).host.replace(/:[0-9]*$/, '').replace(/^\[(.*)\]$/, '$1'),
);
defineMethod('getPort(URL): string', ([url]) => /:([0-9]*)$/.exec((url as UrlValue).host)?.[1] ?? '');
defineMethod('getEscapedPath(URL): string', ([url]) =>
  (url as UrlValue).path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@!'()*%[\]]/gu, (char) => encodeURIComponent(char)),
);
defineMethod('getQuery(URL): map<string, list<string>>', ([url]) => {
  const query = new EntryMap();
  const values = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams((url as UrlValue).query)) {
    const list = values.get(key);
    if (list) list.push(value);
    else values.set(key, [value]);
  }
  for (const [key, list] of values) query.add(key, new CelList(list));
  return query;
});
