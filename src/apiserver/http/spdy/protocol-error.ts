/** The peer violated SPDY/3.1, so the connection must end. */
export class SpdyProtocolError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SpdyProtocolError';
  }
}
