/** Why a connection is not made, with the code a socket would give. */
export class UnreachableError extends Error {
  readonly code: string;
  constructor(code: string, host: string, port: number) {
    super(`connect ${code} ${host}:${port}`);
    this.name = 'UnreachableError';
    this.code = code;
  }
}
