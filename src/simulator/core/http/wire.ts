/** An HTTP request, in the format of the client's transport. */
export interface WireRequest {
  readonly method: string;
  /** absolute URL, or path with query */
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

/** Sends one request, in place of a socket. Rejects when the connection breaks. */
export type Transport = (request: WireRequest) => Promise<WireResponse>;
