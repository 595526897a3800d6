import { type Clock, type Random, sleep } from '../../machinery/index.ts';
import { errorFromResponse, type FailedRequest, misleadingAnswer, requestIdOf } from '../errors/classify.ts';
import { errorFromFailure, timeoutError } from '../errors/network-failure.ts';
import { OpenStackError } from '../errors/openstack-error.ts';
import { secretsIn, withoutLogin } from '../errors/redact.ts';
import type { Transport, TransportResponse } from '../transport/types.ts';
import { createDeadline } from './deadline.ts';
import type { Limiter } from './limiter.ts';
import type { Log } from './log.ts';
import { type Patience, pauseBefore } from './retry.ts';

/** One finished attempt, for metrics. */
export interface RequestObservation {
  readonly service: string;
  readonly method: string;
  /** below the service's endpoint, without the query */
  readonly path: string;
  /** undefined without a response */
  readonly status: number | undefined;
  readonly durationMs: number;
}

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly limiter: Limiter;
  readonly patience: Patience;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly log: Log;
  readonly onRequest?: ((observation: RequestObservation) => void) | undefined;
  /** called before each attempt; an exception becomes the result */
  readonly permit?: (() => void) | undefined;
}

export interface ExchangeRequest {
  readonly service: string;
  readonly method: string;
  /** scheme, host, port and path prefix of the endpoint */
  readonly base: string;
  /** below the base, starting with a slash */
  readonly path: string;
  /** `?…` or empty */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** sent as JSON */
  readonly json?: unknown;
  /** sent unchanged */
  readonly body?: Uint8Array;
  readonly stream?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** whether the request is idempotent; derived from the verb if absent */
  readonly repeatable?: boolean | undefined;
}

/** Supplies the token of a request. */
export interface Authorizer {
  /** returns a token that stays valid for some time */
  token(signal: AbortSignal | undefined): Promise<string>;
  /** reports that the cloud rejected this token, so that the next call gets a new one */
  refused(token: string): void;
}

/**
 * Sends requests with concurrency limits, timeouts and retries by the table of `retry.ts`, and converts failures to
 * errors.
 */
export interface Exchange {
  send(request: ExchangeRequest, authorizer?: Authorizer): Promise<TransportResponse>;
}

const repeatableMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export function createExchange(options: ExchangeOptions): Exchange {
  const { clock, random, patience, log } = options;

  /** Performs one attempt: returns any response, or throws if there was none. */
  const attempt = async (
    request: ExchangeRequest,
    failed: FailedRequest,
    content: string | Uint8Array | undefined,
    token: string | undefined,
  ): Promise<TransportResponse | OpenStackError> => {
    const leave = await options.limiter.enter(request.signal);
    try {
      options.permit?.();
    } catch (refusal) {
      leave();
      throw refusal;
    }
    const timeoutMs = request.timeoutMs ?? options.timeoutMs;
    const deadline = createDeadline(clock, timeoutMs, request.signal);
    const startedAt = clock.now();
    let status: number | undefined;
    try {
      const response = await options.transport({
        method: request.method,
        url: request.base + request.path + (request.query ?? ''),
        headers: headersOf(request, options.userAgent, token),
        ...(content !== undefined && { body: content }),
        ...(request.stream && { stream: request.stream }),
        signal: deadline.signal,
      });
      status = response.status;
      return response;
    } catch (error) {
      request.signal?.throwIfAborted();
      return deadline.expired ? timeoutError(failed, timeoutMs) : errorFromFailure(failed, error);
    } finally {
      deadline.end();
      leave();
      const durationMs = clock.now() - startedAt;
      const { service, method, path } = request;
      options.onRequest?.({ service, method, path, status, durationMs });
    }
  };

  return {
    async send(request, authorizer) {
      const content = request.json === undefined ? request.body : JSON.stringify(request.json);
      const repeatable = !request.stream && (request.repeatable ?? repeatableMethods.has(request.method));
      let renewed = false;
      let waitedMs = 0;
      for (let number = 1; ; number++) {
        request.signal?.throwIfAborted();
        const token = await authorizer?.token(request.signal);
        const failed: FailedRequest = {
          service: request.service,
          method: request.method,
          path: request.path,
          origin: withoutLogin(request.base),
          get secrets() {
            return [...secretsIn(request.json), ...(token === undefined ? [] : [token])];
          },
        };
        const result = await attempt(request, failed, content, token);
        const answered = !(result instanceof OpenStackError);
        if (answered && result.status < 400) {
          const misleading = misleadingAnswer(failed, result);
          if (misleading) throw misleading;
          log.debug('openstack request', {
            service: request.service,
            method: request.method,
            path: request.path,
            status: result.status,
            requestId: requestIdOf(result.headers),
          });
          return result;
        }
        const failure = answered ? errorFromResponse(failed, result, clock.now()) : result;
        if (failure.kind === 'unauthorized' && authorizer && token !== undefined && !renewed) {
          // A 401 means that nothing was done, so any verb may be sent again once with a new token.
          renewed = true;
          number--;
          authorizer.refused(token);
          continue;
        }
        const pauseMs = pauseBefore(failure, { number, repeatable, waitedMs }, patience, random);
        if (pauseMs === undefined) throw failure;
        log.debug('openstack request is tried again', {
          service: request.service,
          method: request.method,
          path: request.path,
          reason: failure.detail,
          pauseMs: Math.round(pauseMs),
        });
        await sleep(clock, pauseMs, request.signal);
        waitedMs += pauseMs;
      }
    },
  };
}

function headersOf(request: ExchangeRequest, userAgent: string, token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent };
  if (request.json !== undefined) headers['content-type'] = 'application/json';
  if (token !== undefined) headers['x-auth-token'] = token;
  if (request.headers) Object.assign(headers, request.headers);
  return headers;
}
