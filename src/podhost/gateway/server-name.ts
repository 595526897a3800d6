// Parses the server name from the first bytes of a TLS client (RFC 8446, RFC 6066).

/** Server name information at the start of a connection. */
export type ServerName =
  | { readonly kind: 'named'; readonly name: string }
  /** TLS without a server name */
  | { readonly kind: 'nameless' }
  /** the ClientHello is incomplete */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'not-tls' };

const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;
const hostNameType = 0;

/** Parses the server name from the bytes received so far. The ClientHello may span several records. */
export function readServerName(bytes: Buffer): ServerName {
  const greeting = joinRecords(bytes);
  if (!Buffer.isBuffer(greeting)) return greeting;
  if (greeting.length < 4) return unfinished;
  if (greeting[0] !== clientHello) return notTls;
  const length = greeting.readUIntBE(1, 3);
  if (greeting.length < 4 + length) return unfinished;
  try {
    return nameIn(greeting.subarray(4, 4 + length));
  } catch {
    // Lengths beyond the end do not occur in a valid ClientHello.
    return notTls;
  }
}

const unfinished: ServerName = { kind: 'unfinished' };
const notTls: ServerName = { kind: 'not-tls' };
const nameless: ServerName = { kind: 'nameless' };

function joinRecords(bytes: Buffer): Buffer | ServerName {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] !== handshakeRecord) return at === 0 ? notTls : Buffer.concat(parts);
    if (bytes.length < at + 5) break;
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + 5, Math.min(end, bytes.length)));
    at = end;
  }
  return parts.length === 0 ? unfinished : Buffer.concat(parts);
}

function nameIn(hello: Buffer): ServerName {
  const version = 2;
  const random = 32;
  let at = version + random;
  at += 1 + hello.readUInt8(at); // session id
  at += 2 + hello.readUInt16BE(at); // cipher suites
  at += 1 + hello.readUInt8(at); // compression methods
  if (at >= hello.length) return nameless;
  const end = at + 2 + hello.readUInt16BE(at);
  at += 2;
  while (at < end) {
    const type = hello.readUInt16BE(at);
    const size = hello.readUInt16BE(at + 2);
    const body = hello.subarray(at + 4, at + 4 + size);
    if (type === serverNameExtension) return hostNameIn(body);
    at += 4 + size;
  }
  return nameless;
}

function hostNameIn(list: Buffer): ServerName {
  let at = 2;
  while (at < list.length) {
    const size = list.readUInt16BE(at + 1);
    if (list.readUInt8(at) === hostNameType) {
      return { kind: 'named', name: list.toString('latin1', at + 3, at + 3 + size).toLowerCase() };
    }
    at += 3 + size;
  }
  return nameless;
}
