import { must } from '../../../machinery/index.ts';
import { allows } from '../caller.ts';
import type { Core } from '../core.ts';
import { Refusal } from '../refusal.ts';
import type { Answer, Route, ServiceDefinition } from '../service.ts';
import { permits } from './access-rules.ts';
import { RequestContext } from './context.ts';
import { type Negotiated, negotiate } from './microversion.ts';
import { compileRoutes, type Router } from './router.ts';
import type { WireRequest, WireResponse } from './wire.ts';

interface Mounted {
  readonly service: ServiceDefinition;
  readonly router: Router<Route>;
}

/** A request with a known service, not yet handled. */
export class Arrived {
  readonly context: RequestContext;
  readonly #core: Core;
  readonly #router: Router<Route>;

  constructor(core: Core, context: RequestContext, router: Router<Route>) {
    this.#core = core;
    this.context = context;
    this.#router = router;
  }

  /** Handles the request. Never throws. */
  answer(): WireResponse {
    return finish(this.context, answerOf(this.#core, this.context, this.#router));
  }

  /** Answers with a refusal of the service instead of calling the handler. */
  refuse(refusal: Refusal): WireResponse {
    return finish(this.context, this.context.service.renderRefusal(refusal, this.context));
  }

  refuseToken(): WireResponse {
    return finish(this.context, this.context.service.renderUnauthenticated(this.context));
  }
}

export interface Dispatcher {
  /** Finds the service of a request. Returns undefined if no service has that path. */
  arrive(request: WireRequest): Arrived | undefined;
}

export interface DispatcherOptions {
  readonly core: Core;
  readonly services: readonly ServiceDefinition[];
  /**
   * path prefixes that clients use by mistake when they resolve relative links literally, mapped to the service's root
   */
  readonly strays?: Readonly<Record<string, string>>;
  /** base URL in links and catalogues instead of the address the client used */
  readonly publicUrl?: () => string | undefined;
}

const noBytes = new Uint8Array();

/** Builds the single entry point of the cloud, for sockets and in-process callers. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { core } = options;
  const byRoot = new Map<string, Mounted>();
  for (const service of options.services) {
    byRoot.set(service.root, { service, router: compileRoutes(service.routes) });
  }

  const mountedAt = (path: string): { mounted: Mounted; path: string } | undefined => {
    const end = path.indexOf('/', 1);
    const root = end < 0 ? path : path.slice(0, end);
    const mounted = byRoot.get(root);
    if (mounted) return { mounted, path: end < 0 ? '/' : path.slice(end) };
    for (const [prefix, strayRoot] of Object.entries(options.strays ?? {})) {
      const stray = path.startsWith(prefix) ? byRoot.get(strayRoot) : undefined;
      if (stray) return { mounted: stray, path };
    }
    return undefined;
  };

  const arrive = (request: WireRequest): Arrived | undefined => {
    const headers = lowerCased(request.headers);
    const { origin, path, query } = splitUrl(request.url, headers['host']);
    const found = mountedAt(path);
    if (!found) return undefined;
    const { service, router } = found.mounted;
    const context = new RequestContext({
      service,
      method: request.method,
      path: found.path,
      queryText: query,
      requestId: core.ids.requestId(),
      origin: options.publicUrl?.() ?? origin,
      headers,
      rawBody: request.body,
    });
    const token = context.headers['x-auth-token'];
    const caller = token === undefined ? undefined : core.services.identity.caller(token);
    // Access rules do not apply to keystone itself.
    const isBarred = caller?.accessRules && service.type !== 'identity' && !permits(caller.accessRules, context);
    if (caller && !isBarred) context.caller = caller;
    return new Arrived(core, context, router);
  };
  return { arrive };
}

function answerOf(core: Core, context: RequestContext, router: Router<Route>): Answer {
  const { service } = context;
  try {
    const match = router(context.method, context.path);
    const isOpen = match.kind === 'found' && match.route.open === true;
    // Authentication comes first: without it a client must not learn which paths exist.
    if (!isOpen && !context.optionalCaller) return service.renderUnauthenticated(context);
    if (match.kind === 'unknown path') return service.renderUnknownPath(context);
    if (match.kind === 'wrong method') return service.renderWrongMethod(context, match.allowed);
    const { route, params } = match;
    context.params = params;
    context.minor = 0;
    if (service.microversions) {
      const negotiated: Negotiated = negotiate(service.microversions, context);
      context.minor = negotiated.minor;
      if (negotiated.refusal) return service.renderRefusal(negotiated.refusal, context);
    }
    if ((route.since ?? 0) > context.minor || context.minor > (route.until ?? Number.POSITIVE_INFINITY)) {
      throw new Refusal(404, 'The resource could not be found.');
    }
    if (route.policy && !(service.allows ?? allows)(context.caller, route.policy.level)) {
      throw service.forbidden(route.policy, context);
    }
    // Reads need no transaction.
    return context.method === 'GET' || context.method === 'HEAD'
      ? route.handle(context)
      : core.state.transact(() => route.handle(context));
  } catch (error) {
    if (error instanceof Refusal) return service.renderRefusal(error, context);
    core.onError(error, `${context.method} ${service.root}${context.path}`);
    const message = 'The server has either erred or is incapable of performing the requested operation.';
    return service.renderRefusal(new Refusal(500, message, { type: 'HTTPInternalServerError' }), context);
  }
}

function finish(context: RequestContext, answer: Answer): WireResponse {
  const { service } = context;
  const headers = service.headers?.(context, answer) ?? {};
  if (answer.headers) Object.assign(headers, answer.headers);
  let body: Uint8Array = noBytes;
  if (answer.bytes !== undefined) {
    body = typeof answer.bytes === 'string' ? Buffer.from(answer.bytes) : answer.bytes;
    headers['content-type'] = answer.contentType ?? 'application/octet-stream';
  } else if (answer.body !== undefined) {
    body = Buffer.from(JSON.stringify(answer.body));
    headers['content-type'] = answer.contentType ?? service.jsonContentType;
  }
  if (answer.status !== 204) headers['content-length'] = String(body.length);
  return { status: answer.status, headers, body: context.method === 'HEAD' ? noBytes : body };
}

const fallbackOrigin = 'http://127.0.0.1';

function splitUrl(url: string, host: string | undefined): { origin: string; path: string; query: string } {
  let origin: string | undefined;
  let rest = url;
  if (!url.startsWith('/')) {
    const start = url.indexOf('/', url.indexOf('://') + 3);
    origin = start < 0 ? url : url.slice(0, start);
    rest = start < 0 ? '/' : url.slice(start);
  }
  const mark = rest.indexOf('?');
  const path = mark < 0 ? rest : rest.slice(0, mark);
  origin ??= host === undefined ? fallbackOrigin : `http://${host}`;
  return { origin, path, query: mark < 0 ? '' : rest.slice(mark + 1) };
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let result: Record<string, string> | undefined;
  for (const name in headers) {
    const lower = name.toLowerCase();
    if (lower === name) continue;
    result ??= { ...headers };
    delete result[name];
    result[lower] = must(headers[name], 'headers[name]');
  }
  return result ?? headers;
}
