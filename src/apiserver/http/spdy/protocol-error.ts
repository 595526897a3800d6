/** The other side does not speak SPDY/3.1; the connection cannot go on. */
export class SpdyProtocolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SpdyProtocolError';
  }
}
