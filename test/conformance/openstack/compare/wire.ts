import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** parsed JSON, text, or undefined if empty */
  readonly body: unknown;
}

/** A cloud over HTTP with tokens of two accounts. */
export interface WireCloud {
  readonly name: string;
  /** endpoints by catalogue type */
  readonly endpoints: ReadonlyMap<string, string>;
  send(request: WireRequest): Promise<WireAnswer>;
}

export interface WireRequest {
  readonly as: AccountName;
  /** catalogue type */
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Entries of clouds.yaml. `nobody` sends no token. */
export type AccountName = 'openstack' | 'admin' | 'nobody';

interface CloudEntry {
  auth: {
    auth_url: string;
    username: string;
    password: string;
    project_name: string;
    user_domain_name: string;
    project_domain_name: string;
  };
}

interface Token {
  readonly token: string;
  readonly catalog: { type: string; endpoints: { interface: string; url: string }[] }[];
}

/** Logs in with both accounts of a clouds.yaml. */
export async function connectWire(name: string, cloudsYaml: string): Promise<WireCloud> {
  const { clouds } = parse(await readFile(cloudsYaml, 'utf8')) as { clouds: Record<string, CloudEntry> };
  const tokens = new Map<AccountName, Token>();
  for (const account of ['openstack', 'admin'] as const) tokens.set(account, await logIn(clouds[account]!));
  const endpoints = new Map<string, string>();
  for (const { type, endpoints: sides } of tokens.get('openstack')!.catalog) {
    const url = sides.find((side) => side.interface === 'public')?.url;
    if (url !== undefined) endpoints.set(type, url);
  }
  return {
    name,
    endpoints,
    send: ({ as, service, method, path, body, headers = {} }) => {
      const endpoint = endpoints.get(service);
      if (endpoint === undefined) throw new Error(`${name} has no ${service} in its catalogue`);
      const token = tokens.get(as)?.token;
      return send(method, `${endpoint}${path}`, body, { ...(token && { 'X-Auth-Token': token }), ...headers });
    },
  };
}

async function logIn({ auth }: CloudEntry): Promise<Token> {
  const identity = {
    methods: ['password'],
    password: { user: { name: auth.username, domain: { name: auth.user_domain_name }, password: auth.password } },
  };
  const scope = { project: { name: auth.project_name, domain: { name: auth.project_domain_name } } };
  const answer = await send('POST', `${auth.auth_url}/auth/tokens`, { auth: { identity, scope } }, {});
  const token = answer.headers['x-subject-token'];
  if (token === undefined) throw new Error(`no token from ${auth.auth_url}: ${JSON.stringify(answer.body)}`);
  return { token, catalog: (answer.body as { token: Pick<Token, 'catalog'> }).token.catalog };
}

async function send(
  method: string,
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<WireAnswer> {
  const answer = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    // A string is sent as is, to test invalid JSON.
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(60_000),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers.entries()),
    body: text === '' ? undefined : parseOr(text),
  };
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
