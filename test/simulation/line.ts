import { PassThrough, Readable, type Writable } from 'node:stream';
import type { ApiServer } from '../../src/apiserver/index.ts';
import {
  type Client,
  type HttpAnswer,
  type HttpExchange,
  type HttpRequest,
  httpClient,
} from '../../src/client/index.ts';
import { type Clock, type Random, seededRandom } from '../../src/machinery/index.ts';
import type { Life } from './mortal.ts';

// HTTP between the controllers and the management API without sockets: the real client and server, with a connection
// between them that simulates all kinds of network faults.

/** Token of the controllers. */
export const controllersToken = 'controllers';

export interface Line {
  /** client of one process life; after its end no request is answered */
  client(life: Life, random: Random): Client;
  /** closes all connections and accepts none for this time */
  restart(downMs: number): void;
}

interface LineOptions {
  readonly server: ApiServer;
  readonly clock: Clock;
  /** fraction of requests with a fault */
  readonly faults: { readonly probability: number };
  /** counts events, to detect when everything is idle */
  readonly activity: { count: number };
  readonly seed: number;
}

export function createLine({ server, clock, faults, activity, seed }: LineOptions): Line {
  const chance = seededRandom(seed + 11);
  const open = new Set<Writable>();
  let downUntil = 0;
  const direct: HttpExchange = (request) => exchangeWith(server, request, open, activity);
  const carry: HttpExchange = async (request) => {
    if (clock.now() < downUntil) throw broken('connect ECONNREFUSED', 'ECONNREFUSED');
    if (chance.next() >= faults.probability) return withLineFaults(await direct(request), faults, chance);
    const fault = lineFaults[Math.floor(chance.next() * lineFaults.length)] ?? refuse;
    return await fault({ request, direct, chance });
  };
  return {
    client: (life, random) =>
      httpClient(
        {
          server: 'http://management.test',
          credentials: { get: () => Promise.resolve({ token: controllersToken }), refresh: () => false },
          namespace: 'default',
          context: 'simulation',
        },
        { clock, random, exchange: (request) => life.call(() => carry(request)) },
      ),
    restart(downMs) {
      downUntil = clock.now() + downMs;
      for (const answer of open) answer.destroy();
    },
  };
}

interface FaultContext {
  readonly request: HttpRequest;
  readonly direct: HttpExchange;
  readonly chance: Random;
}

type LineFault = (context: FaultContext) => Promise<HttpAnswer>;

const refuse: LineFault = () => Promise.reject(broken('connect ECONNREFUSED', 'ECONNREFUSED'));

/** Does the work but loses the answer. */
const loseAnswer: LineFault = async ({ request, direct }) => {
  // An unread stream would never end.
  if (!request.isStream) await (await direct(request)).body.text();
  throw broken('read ECONNRESET', 'ECONNRESET');
};

const cutAnswer: LineFault = async ({ request, direct, chance }) => {
  if (request.isStream) return await refuse({ request, direct, chance });
  const { body, ...answer } = await direct(request);
  const text = Buffer.from(await body.text());
  return { ...answer, body: bodyOf(cutAt(text, Math.floor(text.length * chance.next()))) };
};

/** Refuses a request before doing anything. */
function say(statusCode: number, reason: string, retryAfter?: string): LineFault {
  return () => Promise.resolve(status(statusCode, reason, retryAfter));
}

const gatewayTimeout: LineFault = async ({ request, direct }) => {
  if (!request.isStream) await (await direct(request)).body.text();
  return status(504, 'Timeout');
};

/** Answers 410 to requests with a resourceVersion or continue token. */
const expired: LineFault = async (context) =>
  /[?&](resourceVersion|continue)=/.test(context.request.path) && context.request.method === 'GET'
    ? status(410, 'Expired')
    : await context.direct(context.request);

const lineFaults: readonly LineFault[] = [
  refuse,
  loseAnswer,
  loseAnswer,
  cutAnswer,
  say(429, 'TooManyRequests', '1'),
  say(429, 'TooManyRequests'),
  say(500, 'InternalError'),
  say(503, 'ServiceUnavailable', '2'),
  gatewayTimeout,
  expired,
];

function status(code: number, reason: string, retryAfter?: string): HttpAnswer {
  const text = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code });
  return {
    statusCode: code,
    headers: { 'content-type': 'application/json', 'retry-after': retryAfter },
    body: bodyOf(Readable.from([Buffer.from(text)])),
  };
}

/** While faults are active, streamed answers break off in the middle, or report that their version expired. */
function withLineFaults(answer: HttpAnswer, faults: { readonly probability: number }, chance: Random): HttpAnswer {
  const { body } = answer;
  return {
    ...answer,
    body: bodyOf(breakingOff(body, faults, chance), () => body.destroy()),
  };
}

async function* breakingOff(
  pieces: AsyncIterable<Buffer>,
  faults: { readonly probability: number },
  chance: Random,
): AsyncIterable<Buffer> {
  for await (const piece of pieces) {
    if (faults.probability === 0 || chance.next() >= faults.probability) {
      yield piece;
      continue;
    }
    yield piece.subarray(0, Math.floor(piece.length * chance.next()));
    throw broken('read ECONNRESET', 'ECONNRESET');
  }
}

async function* cutAt(bytes: Buffer, length: number): AsyncIterable<Buffer> {
  yield bytes.subarray(0, length);
  await Promise.resolve();
  throw broken('other side closed', 'UND_ERR_SOCKET');
}

function broken(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

function bodyOf(pieces: AsyncIterable<Buffer>, destroy: () => void = () => {}): HttpAnswer['body'] {
  return {
    [Symbol.asyncIterator]: () => pieces[Symbol.asyncIterator](),
    async text() {
      const all: Buffer[] = [];
      for await (const piece of pieces) all.push(piece);
      return Buffer.concat(all).toString('utf8');
    },
    destroy,
    on: () => {},
  };
}

/** Passes a request to the server like its listener, and resolves with the head of the answer. */
function exchangeWith(
  server: ApiServer,
  { method, path, headers, body, signal }: HttpRequest,
  open: Set<Writable>,
  activity: { count: number },
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const answer = new PassThrough();
    const end = (): void => void answer.destroy();
    let isHeadSent = false;
    signal.addEventListener('abort', end, { once: true });
    open.add(answer);
    answer.on('data', () => {
      activity.count++;
    });
    answer.pause();
    answer.once('close', () => {
      open.delete(answer);
      signal.removeEventListener('abort', end);
      if (!isHeadSent) reject(signal.aborted ? signal.reason : broken('other side closed', 'UND_ERR_SOCKET'));
    });
    activity.count++;
    server.handle({
      method,
      url: path,
      headers: {
        ...(headers as Record<string, string>),
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      },
      rawHeaders: [],
      input: Readable.from(body === undefined ? [] : [Buffer.from(body)]),
      hasBody: body !== undefined,
      output: answer,
      socket: undefined,
      remoteAddress: '127.0.0.1',
      get headersSent() {
        return isHeadSent;
      },
      writeHead(statusCode, given) {
        isHeadSent = true;
        activity.count++;
        const said = Object.fromEntries(
          Object.entries(given).map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]),
        );
        resolve({ statusCode, headers: said, body: bodyOf(answer, end) });
      },
      flushHead() {},
      announceClose() {},
    });
  });
}
