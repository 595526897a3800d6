import { type JsonValue, ManualClock, seededRandom } from '../../machinery/index.ts';
import type { CloudConfig } from '../config/cloud-config.ts';
import { type ConnectOptions, connect, type OpenStack } from '../openstack.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/types.ts';

/** A fake response: status and body, or a network failure. */
export interface FakeAnswer {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
  /** thrown instead of a response */
  fails?: Error;
  /** no response; only the caller's timeout ends the request */
  hangs?: boolean;
}

export type FakeHandler = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;

export interface FakeRequest {
  method: string;
  /** below the origin, without the query */
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  json: JsonValue | undefined;
  body: string | Uint8Array | undefined;
}

export interface FakeCloud {
  readonly transport: Transport;
  readonly clock: ManualClock;
  /** all requests so far, as `METHOD path?query` */
  readonly log: string[];
  readonly requests: FakeRequest[];
  /** for `GET /compute/v2.1/servers` and the like; the last handler wins */
  on(route: string, handler: FakeHandler | FakeAnswer): void;
  connect(options?: ConnectOptions, config?: Partial<CloudConfig>): OpenStack;
}

export const fakeOrigin = 'http://cloud.test';

/** A cloud with canned responses, for tests of the client itself. */
export function fakeCloud(): FakeCloud {
  const clock = new ManualClock();
  const handlers = new Map<string, FakeHandler | FakeAnswer>();
  const log: string[] = [];
  const requests: FakeRequest[] = [];
  let tokens = 0;

  const transport: Transport = async (request) => {
    const url = new URL(request.url);
    const seen: FakeRequest = {
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      json: typeof request.body === 'string' ? (JSON.parse(request.body) as JsonValue) : undefined,
      body: request.body,
    };
    log.push(`${request.method} ${url.pathname}${decodeURIComponent(url.search)}`);
    requests.push(seen);
    const handler = handlers.get(`${request.method} ${url.pathname}`);
    if (!handler) return render({ status: 404, json: { itemNotFound: { code: 404, message: 'no such route' } } });
    const answer = typeof handler === 'function' ? await handler(seen) : handler;
    if (answer.hangs === true) return untilAborted(request);
    if (answer.fails) throw answer.fails;
    return render(answer);
  };

  const cloud: FakeCloud = {
    transport,
    clock,
    log,
    requests,
    on: (route, handler) => void handlers.set(route, handler),
    connect: (options, config) =>
      connect(fakeConfig(config), { transport, clock, random: seededRandom(1), ...options }),
  };
  cloud.on('POST /identity/v3/auth/tokens', () => tokenAnswer(clock, `token-${++tokens}`));
  cloud.on('GET /compute/v2.1/', {
    json: { version: { id: 'v2.1', status: 'CURRENT', version: '2.93', min_version: '2.1' } },
  });
  return cloud;
}

export function fakeConfig(config: Partial<CloudConfig> = {}): CloudConfig {
  return {
    name: 'fake',
    source: 'clouds.yaml',
    authUrl: `${fakeOrigin}/identity`,
    credential: { method: 'password', user: { name: 'u', domain: { id: 'default' } }, password: 'correct horse' },
    scope: { kind: 'project', project: { name: 'p', domain: { id: 'default' } } },
    region: undefined,
    interfaces: ['public'],
    tls: { verify: true },
    timeoutMs: undefined,
    services: {},
    warnings: [],
    ...config,
  };
}

export const fakeServices: readonly [type: string, path: string][] = [
  ['identity', '/identity'],
  ['compute', '/compute/v2.1'],
  ['network', '/network'],
  ['image', '/image'],
  ['volumev3', '/volume/v3/project-id'],
  ['load-balancer', '/load-balancer'],
];

/** A token response of keystone, valid for an hour. */
export function tokenAnswer(
  clock: ManualClock,
  token: string,
  options: { services?: readonly [type: string, path: string][]; lifeMs?: number; scoped?: boolean } = {},
): FakeAnswer {
  const { services = fakeServices, lifeMs = 3_600_000, scoped = true } = options;
  const catalog = services.map(([type, path]) => ({
    type,
    name: type,
    endpoints: [{ interface: 'public', region_id: 'RegionOne', region: 'RegionOne', url: fakeOrigin + path }],
  }));
  return {
    status: 201,
    headers: { 'x-subject-token': token },
    json: {
      token: {
        methods: ['password'],
        user: { id: 'user-id', name: 'u', domain: { id: 'default', name: 'Default' } },
        ...(scoped && {
          project: { id: 'project-id', name: 'p', domain: { id: 'default', name: 'Default' } },
          roles: [{ id: 'r', name: 'member' }],
          catalog,
        }),
        issued_at: new Date(clock.now()).toISOString(),
        expires_at: new Date(clock.now() + lifeMs).toISOString(),
      },
    },
  };
}

function render(answer: FakeAnswer): TransportResponse {
  const text = answer.text ?? (answer.json === undefined ? '' : JSON.stringify(answer.json));
  return {
    status: answer.status ?? 200,
    headers: {
      ...(answer.json !== undefined && { 'content-type': 'application/json' }),
      'x-openstack-request-id': 'req-1',
      ...answer.headers,
    },
    body: new TextEncoder().encode(text),
  };
}

function untilAborted(request: TransportRequest): Promise<never> {
  return new Promise((_resolve, reject) => {
    request.signal?.addEventListener('abort', () => reject(request.signal?.reason), { once: true });
  });
}
