/**
 * A refusal with the service's message. Handlers throw it, and the service renders it in its own format. `type` is
 * neutron's error type, also used between the services.
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
    // Skips the stack trace. Nobody reads it, and capturing it costs more than the answer.
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
