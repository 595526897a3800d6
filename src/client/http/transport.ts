import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import {
  ApiStatusError,
  type Clock,
  errorMessage,
  limitAnswer,
  type Random,
  sleep,
  trimTrailing,
} from '../../machinery/index.ts';
import { sharedSignal } from '../abort.ts';
import { ApiUnreachableError, errorFromResponse } from '../errors.ts';
import type { ConnectionConfig, Credential } from '../kubeconfig/types.ts';
import { requestOrigin } from '../request-origin.ts';
import { identityHeaders, type TlsConnection, tlsConnection } from './authentication.ts';
import { connectorOver } from './dialled.ts';
import { checkServer, lookupOption, readText } from './guard.ts';
import { parseWarnings } from './warnings.ts';

/** One finished attempt, for `rest_client_requests_total` and `rest_client_request_duration_seconds`. */
export interface RequestObservation {
  method: string;
  host: string;
  /** HTTP code, or `<error>` without response, as in client-go */
  code: string;
  durationMs: number;
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`, `deletecollection`; absent for paths that
   * are no objects
   */
  verb?: string;
  /** `plural.group/subresource` */
  resource?: string;
  /** originator of the request, see `onBehalfOf` */
  origin?: string;
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** path and query */
  path: string;
  headers: Record<string, string | string[]>;
  body?: string;
  signal: AbortSignal;
  /** the response is streamed and may be endless */
  isStream: boolean;
}

export interface HttpAnswer {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Buffer> & {
    text(): Promise<string>;
    destroy(): unknown;
    on(event: 'error', listener: (error: Error) => void): unknown;
  };
}

/** Sends a request. Rejects only without response. */
export type HttpExchange = (request: HttpRequest) => Promise<HttpAnswer>;

export interface TransportOptions {
  config: ConnectionConfig;
  userAgent: string;
  clock: Clock;
  random: Random;
  /** timeout of requests except watches; 0 means none */
  requestTimeoutMs: number;
  maxAttempts: number;
  /** maximum connections for requests except watches */
  maxConnections: number;
  allowH2: boolean;
  /** replaces sockets */
  exchange: HttpExchange | undefined;
  onWarning: ((text: string) => void) | undefined;
  onRequest: ((observation: RequestObservation) => void) | undefined;
}

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** path and query relative to the base URL of the server */
  path: string;
  body?: string;
  contentType?: string;
  accept?: string;
  signal?: AbortSignal | undefined;
  /** called before each attempt */
  permit?: (() => void) | undefined;
  /** Kubernetes verb and resource for metrics */
  verb?: string;
  resource?: string;
}

export interface TransportResponse {
  code: number;
  contentType: string;
  body: string;
}

export interface StreamResponse {
  chunks: AsyncIterable<Uint8Array>;
  close(): void;
}

export interface Transport {
  /** sends a request and reads the whole response; errors are ApiStatusError or ApiUnreachableError */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** sends a request and streams the response */
  open(request: TransportRequest): Promise<StreamResponse>;
  close(): Promise<void>;
}

const firstBackoffMs = 100;
const maxBackoffMs = 10_000;
/** Longest Retry-After that is honored; longer delays are left to the backoff of the caller. */
const maxRetryAfterMs = 60_000;

export function createTransport(options: TransportOptions): Transport {
  const { config, clock, random } = options;
  const base = new URL(config.server);
  const prefix = trimTrailing(base.pathname, '/');
  let dispatchers: { requests: Dispatcher; watches: Dispatcher; certificate: string | undefined } | undefined;
  const retired: Dispatcher[] = [];
  let closed = false;

  const dispatcherFor = (credential: Credential, watch: boolean): Dispatcher => {
    const certificate = credential.clientCertificate?.certificate;
    if (!dispatchers || dispatchers.certificate !== certificate) {
      // An exec plugin issued a new certificate. New connections use it, existing ones finish.
      if (dispatchers) retired.push(dispatchers.requests, dispatchers.watches);
      const tls = base.protocol === 'https:' ? tlsConnection(config, credential) : {};
      dispatchers = {
        requests: createDispatcher(options, tls, options.maxConnections),
        // In HTTP/1.1 each watch occupies a connection, so watches have a separate limit.
        watches: createDispatcher(options, tls, undefined),
        certificate,
      };
    }
    return watch ? dispatchers.watches : dispatchers.requests;
  };

  const overSockets =
    (credential: Credential): HttpExchange =>
    ({ isStream, ...request }) =>
      dispatcherFor(credential, isStream).request({ origin: base.origin, ...request });

  const headersFor = (request: TransportRequest, credential: Credential): Record<string, string | string[]> => {
    const headers: Record<string, string | string[]> = {
      accept: request.accept ?? 'application/json',
      'user-agent': options.userAgent,
    };
    if (request.body !== undefined) headers['content-type'] = request.contentType ?? 'application/json';
    return Object.assign(headers, identityHeaders(config, credential));
  };

  /** Runs one attempt; resolves with any HTTP response and rejects only without one. */
  const attempt = async (
    request: TransportRequest,
    { watch, origin }: { watch: boolean; origin: string | undefined },
    signal: AbortSignal,
  ): Promise<HttpAnswer> => {
    const credential = await config.credentials.get(signal);
    signal.throwIfAborted();
    await checkServer(config);
    request.permit?.();
    const startedAt = clock.now();
    const { method, verb, resource } = request;
    const observe = (code: string): void =>
      options.onRequest?.({
        method,
        host: base.host,
        code,
        durationMs: clock.now() - startedAt,
        ...(verb !== undefined && { verb }),
        ...(resource !== undefined && { resource }),
        ...(origin !== undefined && { origin }),
      });
    try {
      const { exchange = overSockets(credential) } = options;
      const response = await exchange({
        method: request.method,
        path: prefix + request.path,
        headers: headersFor(request, credential),
        ...(request.body !== undefined && { body: request.body }),
        signal,
        isStream: watch,
      });
      observe(String(response.statusCode));
      for (const text of parseWarnings(response.headers['warning'])) options.onWarning?.(text);
      return response;
    } catch (error) {
      observe('<error>');
      throw error;
    }
  };

  /** Runs all attempts of one request. `read` converts a successful response; its errors are retried, too. */
  const run = async <R>(
    request: TransportRequest,
    { watch }: { watch: boolean },
    read: (response: HttpAnswer, scope: AttemptScope) => Promise<R>,
  ): Promise<R> => {
    const origin = requestOrigin();
    if (closed) throw new ApiUnreachableError(`the client of ${config.server} is closed`);
    let refreshed = false;
    for (let tries = 1; ; tries++) {
      request.signal?.throwIfAborted();
      const scope = attemptScope(clock, options.requestTimeoutMs, request.signal);
      let pauseMs: number | undefined;
      try {
        const response = await attempt(request, { watch, origin }, scope.signal);
        if (response.statusCode < 400) return await read(response, scope);
        const failure = errorFromResponse(
          response.statusCode,
          await readText(response.body, config.guard),
          `${request.method} ${request.path}`,
          { hidesForeign: config.guard !== undefined },
        );
        scope.end();
        if (failure.code === 401 && !refreshed && config.credentials.refresh()) {
          // A 401 is returned before any effect, so the request can be repeated with new credentials for every verb.
          refreshed = true;
          continue;
        }
        pauseMs =
          tries < options.maxAttempts
            ? pauseAfter(failure, response.headers['retry-after'], request, tries)
            : undefined;
        if (pauseMs === undefined) throw failure;
      } catch (error) {
        const timedOut = scope.timedOut();
        scope.end();
        if (error instanceof ApiStatusError) throw error;
        if (request.signal?.aborted) throw request.signal.reason;
        if (isConfigurationError(error)) throw error;
        const retriable = request.method === 'GET' && !timedOut && tries < options.maxAttempts && !closed;
        if (!retriable)
          throw unreachable(config.server, request, error, timedOut ? options.requestTimeoutMs : undefined);
        pauseMs = backoff(tries);
      }
      await sleep(clock, pauseMs, request.signal && sharedSignal(request.signal));
    }
  };

  const backoff = (tries: number): number =>
    Math.min(maxBackoffMs, firstBackoffMs * 2 ** (tries - 1)) * (0.5 + random.next() / 2);

  const pauseAfter = (
    failure: ApiStatusError,
    retryAfter: string | string[] | undefined,
    request: TransportRequest,
    tries: number,
  ): number | undefined => {
    const { code } = failure;
    if (code === 429 || code === 503) {
      const seconds = Number(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
      if (Number.isFinite(seconds) && retryAfter !== undefined && seconds >= 0) {
        const wanted = seconds * 1000;
        // Adds a random delay, so that clients do not retry simultaneously.
        return wanted > maxRetryAfterMs ? undefined : wanted + random.next() * Math.min(1000, wanted / 4 + 50);
      }
    }
    const transient = code === 429 || code === 502 || code === 503 || code === 504;
    return request.method === 'GET' && transient ? backoff(tries) : undefined;
  };

  return {
    send: (request) =>
      run(request, { watch: false }, async (response, scope) => {
        const body = await readText(response.body, config.guard);
        scope.end();
        return { code: response.statusCode, contentType: headerText(response.headers['content-type']), body };
      }),
    open: (request) =>
      run(request, { watch: true }, (response, scope) => {
        // The response has started, so only the caller can end it.
        scope.disarm();
        return Promise.resolve({
          chunks: response.body as AsyncIterable<Uint8Array>,
          close: () => {
            scope.end();
            response.body.on('error', () => {});
            response.body.destroy();
          },
        });
      }),
    async close() {
      closed = true;
      const all = dispatchers ? [dispatchers.requests, dispatchers.watches, ...retired] : retired;
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

function headerText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

interface AttemptScope {
  signal: AbortSignal;
  timedOut(): boolean;
  /** stops the timeout, but still follows the caller's signal */
  disarm(): void;
  end(): void;
}

/** Combines the caller's signal and the timeout without leaking listeners. */
function attemptScope(clock: Clock, timeoutMs: number, outer: AbortSignal | undefined): AttemptScope {
  const controller = new AbortController();
  let timedOut = false;
  const onAbort = (): void => controller.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else if (outer) sharedSignal(outer).addEventListener('abort', onAbort, { once: true });
  const cancel =
    timeoutMs > 0
      ? limitAnswer(clock, timeoutMs, () => {
          timedOut = true;
          controller.abort(new Error(`no answer within ${timeoutMs} ms`));
        })
      : () => {};
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    disarm: cancel,
    end() {
      cancel();
      outer?.removeEventListener('abort', onAbort);
    },
  };
}

/** Errors in credentials or arguments are specific enough and are not retried. */
function isConfigurationError(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^CAP_(KUBECONFIG|PEER_REFUSED|ANSWER_TOO_LARGE|LEASE_NOT_HELD)/.test(code) || code === 'UND_ERR_INVALID_ARG';
}

const tlsHints: readonly [pattern: RegExp, hint: string][] = [
  [/CERT_HAS_EXPIRED/, "the server's certificate has expired; renew it"],
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/,
    "the kubeconfig's certificate-authority did not issue the server's certificate; fetch a fresh kubeconfig",
  ],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, 'the address is not in the certificate; use another address or set tls-server-name'],
  [/ECONNREFUSED/, 'nothing listens at this address; is the API server running?'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name does not resolve; check the server address and DNS'],
];

/** Builds the error of a request without response, with a suggested fix for its cause. */
export function unreachable(
  server: string,
  request: Pick<TransportRequest, 'path'> & { method: string },
  error: unknown,
  timeoutMs: number | undefined,
): ApiUnreachableError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const hint = tlsHints.find(([pattern]) => pattern.test(code))?.[1];
  const why = timeoutMs === undefined ? errorMessage(error) || code : `no answer within ${timeoutMs / 1000} s`;
  return new ApiUnreachableError(`${request.method} ${request.path.split('?')[0]} at ${server} failed: ${why}`, {
    cause: error,
    ...(hint !== undefined && { hint }),
  });
}

function createDispatcher(options: TransportOptions, tls: TlsConnection, connections: number | undefined): Dispatcher {
  const { config } = options;
  const host = new URL(config.server).hostname;
  // Timeouts use the injected clock; those of undici would end quiet watches.
  const common = {
    ...(connections !== undefined && { connections }),
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    allowH2: options.allowH2,
    pipelining: 1,
  };
  const { proxyUrl, dial } = config;
  if (dial) return new Agent({ ...common, connect: connectorOver(dial, host, tls) });
  if (proxyUrl === undefined)
    return new Agent({ ...common, connect: { ...tls, ...lookupOption(config), keepAlive: true, timeout: 10_000 } });
  if (/^socks5h?:/.test(proxyUrl)) {
    // undici reads requestTls here, too, but its types lack it.
    const socks = { ...common, requestTls: { ...tls, servername: tls.servername ?? host } };
    return new Socks5ProxyAgent(proxyUrl, socks);
  }
  return new ProxyAgent({
    ...common,
    uri: proxyUrl,
    proxyTls: lookupOption(config),
    requestTls: { ...tls, servername: tls.servername ?? host },
  });
}
