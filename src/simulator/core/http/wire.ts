/** A request as it comes off the wire; the shape a client's transport sends. */
export interface WireRequest {
  readonly method: string;
  /** absolute, or from the path on */
  readonly url: string;
  /** names in any case */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
}

export interface WireResponse {
  readonly status: number;
  /** lower-case names */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Sends one request; what a client plugs in where it would use a socket. Rejects as a broken connection would. */
export type Transport = (request: WireRequest) => Promise<WireResponse>;
