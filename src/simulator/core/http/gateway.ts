import { sleep } from '../../../machinery/index.ts';
import type { Core } from '../core.ts';
import type { RequestEffect } from '../faults/rule.ts';
import { Refusal } from '../refusal.ts';
import type { Arrived, Dispatcher } from './dispatch.ts';
import type { Transport, WireRequest, WireResponse } from './wire.ts';

const defaultHoldMs = 600_000;

/** A broken connection. Over HTTP the socket is destroyed, in process the transport rejects with this error. */
export class ConnectionBroken extends Error {
  readonly code = 'ECONNRESET';

  constructor() {
    super('the connection was reset by the peer');
    this.name = 'ConnectionBroken';
  }
}

export interface GatewayOptions {
  readonly core: Core;
  readonly dispatcher: Dispatcher;
  /** resolves once all commits so far are durable; undefined if there is nothing to wait for */
  readonly committed?: () => Promise<void> | undefined;
  /** answers paths of no service */
  readonly elsewhere: (request: WireRequest, path: string) => WireResponse;
}

/** Builds the request pipeline: request faults, the work, waiting for durability, then faults after the work. */
export function createGateway(options: GatewayOptions): Transport {
  const { core, dispatcher } = options;

  // Avoids `await` if there is nothing to wait for, because it dominates the cost of an in-process request.
  const doWork = (arrived: Arrived): Promise<WireResponse> => {
    const response = arrived.answer();
    const safe = options.committed?.();
    return safe ? safe.then(() => response) : Promise.resolve(response);
  };

  return (request) => {
    const arrived = dispatcher.arrive(request);
    if (!arrived) return Promise.resolve(options.elsewhere(request, pathOf(request.url)));
    const { context } = arrived;
    const { type } = context.service;
    core.counts.count(type, context.method);
    if (!core.faults.anyForRequests) return doWork(arrived);
    const effects = core.faults.forRequest({
      service: type,
      method: context.method,
      path: context.path,
      projectId: context.optionalCaller?.projectId,
      projectName: context.optionalCaller?.projectName,
    });
    return strike(effects, arrived, request.signal);
  };

  async function strike(
    effects: readonly RequestEffect[],
    arrived: Arrived,
    signal: AbortSignal | undefined,
  ): Promise<WireResponse> {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'latency':
          await sleep(core.clock, core.faults.duration(effect.ms), signal);
          break;
        case 'status':
          return refusalOf(effect, arrived);
        case 'expired-token':
          if (arrived.context.optionalCaller) return arrived.refuseToken();
          break;
        case 'reset':
          if (effect.workDone) await doWork(arrived);
          throw new ConnectionBroken();
        case 'hang':
          if (effect.workDone) await doWork(arrived);
          await sleep(core.clock, effect.holdMs ?? defaultHoldMs, signal);
          throw new ConnectionBroken();
        case 'gateway-timeout':
          await doWork(arrived);
          return proxyAnswer(504, 'Gateway Timeout');
      }
    }
    return doWork(arrived);
  }
}

function pathOf(url: string): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  return start < 0 ? '/' : url.slice(start);
}

function refusalOf(effect: Extract<RequestEffect, { kind: 'status' }>, arrived: Arrived): WireResponse {
  const headers = effect.retryAfter === undefined ? {} : { 'retry-after': String(effect.retryAfter) };
  if (effect.body !== undefined) {
    const body = Buffer.from(effect.body);
    const contentType = effect.contentType ?? (effect.body.startsWith('{') ? 'application/json' : 'text/html');
    const length = String(body.length);
    return {
      status: effect.status,
      headers: { ...headers, 'content-type': contentType, 'content-length': length },
      body,
    };
  }
  const message = effect.message ?? 'The service is unavailable at the moment.';
  const response = arrived.refuse(new Refusal(effect.status, message, { type: 'InjectedFault' }));
  return { ...response, headers: { ...response.headers, ...headers } };
}

/** Builds the answer of a load balancer in front of the services. */
export function proxyAnswer(status: number, title: string): WireResponse {
  const text = `<html><head><title>${status} ${title}</title></head><body><h1>${status} ${title}</h1></body></html>\n`;
  const body = Buffer.from(text);
  return { status, headers: { 'content-type': 'text/html', 'content-length': String(body.length) }, body };
}
