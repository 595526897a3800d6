export interface TransportRequest {
  readonly method: string;
  /** absolute */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** a body too large for memory; only for transports that support streams */
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
 * Carries requests to a cloud: over sockets, or directly to a simulated cloud in this process. Resolves with any HTTP
 * response; rejects only if there is none.
 */
export type Transport = ((request: TransportRequest) => Promise<TransportResponse>) & {
  /** whether `TransportRequest.stream` is supported */
  readonly streams?: boolean;
  /** closes idle connections */
  readonly close?: () => Promise<void>;
};
