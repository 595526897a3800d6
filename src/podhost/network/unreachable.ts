/** A connection that cannot be made, with the error code of a socket. */
export class UnreachableError extends Error {
  readonly code: string;
  constructor(code: string, host: string, port: number) {
    super(`connect ${code} ${host}:${port}`);
    this.name = 'UnreachableError';
    this.code = code;
  }
}
