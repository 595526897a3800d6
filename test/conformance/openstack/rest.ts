import { baseUrl, type Layout } from './layout.ts';

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** parsed JSON, or text */
  readonly body: unknown;
}

export type Rest = (
  method: string,
  url: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<RestAnswer>;

/** Account of a request. All accounts have the same password. */
export interface Account {
  readonly user: string;
  readonly project: string;
}

/** Returns a client with a token of the account, obtained once. */
export async function logIn(layout: Layout, { user, project }: Account): Promise<Rest> {
  const domain = { name: 'Default' };
  const auth = {
    identity: { methods: ['password'], password: { user: { name: user, domain, password: layout.password } } },
    scope: { project: { name: project, domain } },
  };
  const answer = await send('POST', `${baseUrl(layout, 'identity')}/v3/auth/tokens`, { auth });
  const token = answer.headers.get('X-Subject-Token');
  if (answer.status !== 201 || token === null) throw refusal('POST', '/v3/auth/tokens', answer);
  return (method, url, body, headers = {}) => send(method, url, body, { ...headers, 'X-Auth-Token': token });
}

/** Returns the body of a successful answer, or throws. */
export async function expectOk<T>(answer: Promise<RestAnswer>, what: string): Promise<T> {
  const received = await answer;
  if (received.status >= 300) throw refusal(what, '', received);
  return received.body as T;
}

function refusal(method: string, path: string, { status, body }: RestAnswer): Error {
  return new Error(`${method} ${path} answers ${status}: ${JSON.stringify(body)}`);
}

async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<RestAnswer> {
  const isBytes = body instanceof Uint8Array;
  const answer = await fetch(url, {
    method,
    headers: { 'Content-Type': isBytes ? 'application/octet-stream' : 'application/json', ...headers },
    ...(body !== undefined && { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    signal: AbortSignal.timeout(120_000),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
