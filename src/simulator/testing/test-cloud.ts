import { ManualClock, seededRandom } from '../../machinery/index.ts';
import { type CloudOptions, createCloud, type SimulatedCloud } from '../cloud.ts';

export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** parsed JSON, other text as is, undefined if empty */
  readonly body: unknown;
}

/** A user with a token. */
export interface TestUser {
  readonly token: string;
  readonly userId: string;
  readonly projectId: string;
  /** `path` starts at the service's root, for example `/compute/v2.1/servers` */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
}

export interface TestCloud {
  readonly cloud: SimulatedCloud;
  readonly clock: ManualClock;
  /** administrator in the project `admin` */
  readonly admin: TestUser;
  /** Creates a project and a user with the given roles in it. */
  member(name?: string, roles?: readonly string[]): Promise<TestUser>;
}

const host = 'http://cloud.test';

export async function send(
  cloud: SimulatedCloud,
  method: string,
  path: string,
  options: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<TestAnswer> {
  const { token, body } = options;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await cloud.transport({
    method,
    url: host + path,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
      ...(token !== undefined && { 'x-auth-token': token }),
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = Buffer.from(response.body).toString();
  const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : isJson ? parsed(text) : text,
  };
}

/** One answer of octavia has a JSON content type but is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Creates a cloud on a manual clock, with a fixed seed by default. */
export async function testCloud(options: Partial<CloudOptions> & { seed?: number } = {}): Promise<TestCloud> {
  const clock = new ManualClock();
  const errors: unknown[] = [];
  const cloud = await createCloud({
    clock,
    random: seededRandom(options.seed ?? 1),
    adminPassword: 'admin-secret',
    onError: (error, what) => {
      errors.push(error);
      // A bug of the simulator must fail the test. The cause has its stack.
      queueMicrotask(() => {
        throw new Error(`the simulator failed: ${what}`, { cause: error });
      });
    },
    ...options,
  });
  const login = async (name: string, password: string, project: string): Promise<TestUser> => {
    const answer = await send(cloud, 'POST', '/identity/v3/auth/tokens', {
      body: {
        auth: {
          identity: { methods: ['password'], password: { user: { name, domain: { id: 'default' }, password } } },
          scope: { project: { name: project, domain: { id: 'default' } } },
        },
      },
    });
    if (answer.status !== 201) throw new Error(`no token for ${name}: ${JSON.stringify(answer.body)}`);
    const token = answer.headers['x-subject-token']!;
    const { user, project: scope } = (answer.body as { token: { user: { id: string }; project: { id: string } } })
      .token;
    return {
      token,
      userId: user.id,
      projectId: scope.id,
      request: (method, path, body, headers) =>
        send(cloud, method, path, { token, ...(body !== undefined && { body }), ...(headers && { headers }) }),
    };
  };
  const admin = await login('admin', cloud.secrets.adminPassword, 'admin');
  const must = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await admin.request(method, `/identity/v3${path}`, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    cloud,
    clock,
    admin,
    async member(name = 'p', roles = ['member', 'reader', 'load-balancer_member']) {
      const { project } = (await must('POST', '/projects', { project: { name } })) as { project: { id: string } };
      const { user } = (await must('POST', '/users', {
        user: { name: `${name}-user`, password: 'secret' },
      })) as { user: { id: string } };
      const known = (await must('GET', '/roles')) as { roles: { id: string; name: string }[] };
      for (const role of known.roles) {
        if (roles.includes(role.name)) await must('PUT', `/projects/${project.id}/users/${user.id}/roles/${role.id}`);
      }
      return login(`${name}-user`, 'secret', name);
    },
  };
}
