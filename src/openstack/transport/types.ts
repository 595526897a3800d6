/** One HTTP request, ready to go out. */
export interface TransportRequest {
  readonly method: string;
  /** absolute */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** a body too large to hold; only for transports that say they take streams */
  readonly stream?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** lower-case names */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Carries requests to a cloud: over sockets, or straight into a simulated cloud of the same process. Resolves with any HTTP
 * answer; rejects only when there was none.
 */
export type Transport = ((request: TransportRequest) => Promise<TransportResponse>) & {
  /** whether `TransportRequest.stream` is understood */
  readonly streams?: boolean;
  /** drops idle connections */
  readonly close?: () => Promise<void>;
};
