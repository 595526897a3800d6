/**
 * A refusal in a service's own words. Handlers throw it; the service's renderer gives it the shape its clients know.
 * `type` is what neutron calls its errors, and what the services tell each other.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    status: number,
    message: string,
    options: { type?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    // A refusal is an answer, not a bug: nobody reads where it came from, and finding out costs more than the answer.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = limit;
    this.name = 'Refusal';
    this.status = status;
    this.type = options.type;
    this.headers = options.headers;
  }
}
