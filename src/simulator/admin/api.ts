import { must } from '../../machinery/index.ts';
import { FaultRuleError, parseFaultRule } from '../core/faults/parse-rule.ts';
import { compileRoutes, type Routable } from '../core/http/router.ts';
import type { WireRequest, WireResponse } from '../core/http/wire.ts';
import { type Operator, OperatorError } from './operator.ts';

/** Path prefix of the operator API. No OpenStack service uses it. */
export const adminPrefix = '/_admin';

type Fields = Readonly<Record<string, unknown>>;

interface AdminRoute extends Routable {
  readonly what: string;
  run(operator: Operator, params: Readonly<Record<string, string>>, body: Fields): unknown;
}

const text = (body: Fields, key: string): string => {
  const value = body[key];
  if (typeof value !== 'string') throw new OperatorError(400, `${key}: must be text`);
  return value;
};

const routes: readonly AdminRoute[] = [
  { method: 'GET', path: '/faults', what: 'the fault rules in force', run: ({ faults }) => faults.list() },
  {
    method: 'POST',
    path: '/faults',
    what: 'add a rule: {id, when, probability, count, after, seed, effect}',
    run: ({ faults }, _params, body) => faults.set(parseFaultRule(body)),
  },
  { method: 'DELETE', path: '/faults', what: 'remove all rules', run: ({ faults }) => faults.clear() },
  {
    method: 'PUT',
    path: '/faults/{id}',
    what: 'add or replace a rule',
    run: ({ faults }, { id }, body) => faults.set(parseFaultRule(body, id)),
  },
  {
    method: 'DELETE',
    path: '/faults/{id}',
    what: 'remove a rule',
    run({ faults }, { id }) {
      if (!faults.delete(must(id, 'id'))) throw new OperatorError(404, `there is no rule ${id}`);
    },
  },
  { method: 'GET', path: '/timings', what: 'how long every step takes', run: ({ timings }) => timings.list() },
  {
    method: 'PATCH',
    path: '/timings',
    what: 'change how long steps take: {timeScale, timings: {step: ms or [least, most]}}',
    run: ({ timings }, _params, body) => changeTimings(timings, body),
  },
  { method: 'GET', path: '/requests', what: 'requests answered so far', run: (operator) => operator.requests() },
  { method: 'DELETE', path: '/requests', what: 'reset the counts', run: (operator) => operator.resetRequests() },
  {
    method: 'POST',
    path: '/tokens/expire',
    what: 'end all tokens, or those of {project}',
    run: (operator, _params, { project }) => operator.expireTokens(typeof project === 'string' ? project : undefined),
  },
  {
    method: 'POST',
    path: '/servers/{id}/stop',
    what: 'the machine stops by itself',
    run: (operator, { id }) => operator.stopServer(must(id, 'id')),
  },
  {
    method: 'POST',
    path: '/servers/{id}/start',
    what: 'the machine starts by itself',
    run: (operator, { id }) => operator.startServer(must(id, 'id')),
  },
  {
    method: 'POST',
    path: '/servers/{id}/break',
    what: 'the server goes into ERROR: {message}',
    run: (operator, { id }, body) => operator.breakServer(must(id, 'id'), text(body, 'message')),
  },
  {
    method: 'DELETE',
    path: '/servers/{id}',
    what: 'the server is gone at once',
    run: (operator, { id }) => operator.deleteServer(must(id, 'id')),
  },
  {
    method: 'POST',
    path: '/servers/{id}/console',
    what: 'write on its console: {text}',
    run: (operator, { id }, body) => operator.writeConsole(must(id, 'id'), text(body, 'text')),
  },
  {
    method: 'PUT',
    path: '/volumes/{id}/status',
    what: 'put a volume into a state: {status}',
    run: (operator, { id }, body) => operator.setVolumeStatus(must(id, 'id'), text(body, 'status')),
  },
  {
    method: 'POST',
    path: '/floating-ips/{id}/move',
    what: 'give a floating address (by id or address) to another port: {port}, null for none',
    run: (operator, { id }, body) =>
      operator.moveFloatingIp(must(id, 'id'), body['port'] === null ? null : text(body, 'port')),
  },
  {
    method: 'DELETE',
    path: '/ports/{id}',
    what: 'the port is gone, whatever it was used for',
    run: (operator, { id }) => operator.deletePort(must(id, 'id')),
  },
  {
    method: 'POST',
    path: '/load-balancers/{id}/break',
    what: 'the load balancer goes into ERROR',
    run: (operator, { id }) => operator.breakLoadBalancer(must(id, 'id')),
  },
  {
    method: 'PATCH',
    path: '/hosts/{name}',
    what: 'a hypervisor: {enabled, up}',
    run: (operator, { name }, { enabled, up }) =>
      operator.setHost(must(name, 'name'), {
        ...(typeof enabled === 'boolean' && { enabled }),
        ...(typeof up === 'boolean' && { up }),
      }),
  },
  {
    method: 'PATCH',
    path: '/quotas/{service}/{project}',
    what: 'limits of a project: compute, network, volume or load-balancer',
    run: (operator, { service, project }, body) =>
      changeQuota(operator, must(service, 'service'), must(project, 'project'), body),
  },
];

function changeTimings(timings: Operator['timings'], body: Fields): void {
  const { timeScale, timings: steps } = body;
  if (timeScale !== undefined && !(typeof timeScale === 'number' && timeScale >= 0)) {
    throw new OperatorError(400, 'timeScale: must be a number, 0 or more');
  }
  const isSpan = (value: unknown): boolean =>
    (typeof value === 'number' && value >= 0) ||
    (Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'number' && each >= 0));
  for (const [name, span] of Object.entries((steps ?? {}) as Fields)) {
    if (!isSpan(span)) throw new OperatorError(400, `timings.${name}: must be milliseconds, or [least, most]`);
  }
  try {
    timings.change({
      ...(typeof timeScale === 'number' && { timeScale }),
      ...(steps !== undefined && { timings: steps as Record<string, number> }),
    });
  } catch (error) {
    if (error instanceof RangeError) throw new OperatorError(400, `timings: ${error.message}`);
    throw error;
  }
}

function changeQuota(operator: Operator, service: string, project: string, body: Fields): void {
  if (service !== 'compute' && service !== 'network' && service !== 'volume' && service !== 'load-balancer') {
    throw new OperatorError(404, `there are no quotas of ${service}`);
  }
  for (const [name, value] of Object.entries(body)) {
    if (!Number.isInteger(value)) throw new OperatorError(400, `${name}: must be a whole number, -1 for no limit`);
  }
  operator.setQuota(service, project, body as Record<string, number>);
}

/** Serves the operator API over HTTP. It has a token of its own, so users of the cloud cannot call it. */
export function createAdminApi(
  operator: Operator,
  token: string,
): (request: WireRequest, path: string) => WireResponse {
  const find = compileRoutes(routes);
  return (request, fullPath) => {
    const path = fullPath.slice(adminPrefix.length).split('?')[0] ?? '';
    if (!isAllowed(request, token)) {
      return reply(401, { error: 'the admin API needs its token in the header X-Admin-Token' });
    }
    if (path === '' || path === '/') {
      return reply(200, {
        routes: routes.map(({ method, path: own, what }) => `${method} ${adminPrefix}${own}: ${what}`),
      });
    }
    const match = find(request.method, path);
    if (match.kind === 'unknown path') return reply(404, { error: `there is no ${fullPath}` });
    if (match.kind === 'wrong method') return reply(405, { error: `use ${match.allowed.join(' or ')}` });
    try {
      const value = match.route.run(operator, match.params, bodyOf(request));
      return value === undefined ? reply(204, undefined) : reply(200, value);
    } catch (error) {
      if (error instanceof OperatorError) return reply(error.status, { error: error.message });
      if (error instanceof FaultRuleError) return reply(400, { error: error.message });
      throw error;
    }
  };
}

function isAllowed({ headers }: WireRequest, token: string): boolean {
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === 'x-admin-token') return value === token;
  }
  return false;
}

function bodyOf({ body }: WireRequest): Fields {
  if (body === undefined || body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString());
    if (typeof value === 'object' && value !== null) return value as Fields;
  } catch {
    // falls through to the refusal
  }
  throw new OperatorError(400, 'the body must be a JSON object');
}

function reply(status: number, value: unknown): WireResponse {
  const body = value === undefined ? new Uint8Array() : Buffer.from(`${JSON.stringify(value)}\n`);
  const length = { 'content-length': String(body.length) };
  return { status, headers: { 'content-type': 'application/json', ...(status !== 204 && length) }, body };
}
