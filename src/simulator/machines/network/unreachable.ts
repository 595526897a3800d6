/** Connection errors with the codes of the operating system. */
export type UnreachableCode = 'ECONNREFUSED' | 'ECONNRESET' | 'EHOSTUNREACH' | 'ENOTFOUND' | 'ETIMEDOUT';

const explanations: Readonly<Record<UnreachableCode, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENOTFOUND: 'no such host',
  ETIMEDOUT: 'i/o timeout',
};

/** A failed connection to an address. */
export class UnreachableError extends Error {
  readonly code: UnreachableCode;
  readonly address: string;
  readonly port: number;

  constructor(code: UnreachableCode, address: string, port: number) {
    const target = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
    super(
      code === 'ENOTFOUND'
        ? `dial tcp: lookup ${address}: ${explanations[code]}`
        : `dial tcp ${target}: ${explanations[code]}`,
    );
    this.name = 'UnreachableError';
    this.code = code;
    this.address = address;
    this.port = port;
  }
}
