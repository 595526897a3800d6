import { lookup } from 'node:dns';
import { rootCertificates } from 'node:tls';
import { Agent, request } from 'undici';
import {
  anyPeer,
  type Clock,
  checkPeerHost,
  errorMessage,
  guardedLookup,
  limitAnswer,
  type PeerPolicy,
  PeerRefusedError,
  printableLine,
} from '../machinery/index.ts';
import { ArtifactError } from './errors.ts';
import { readUrl, shownUrl } from './url.ts';

export interface HttpOptions {
  readonly clock: Clock;
  /** policy for addresses, because tenants choose the URLs */
  readonly peers?: PeerPolicy;
  /** PEM of additional trusted CAs */
  readonly ca?: string;
  readonly userAgent?: string;
}

export interface Fetch {
  readonly url: URL;
  /** name of the content for messages: `chart nginx of https://…` */
  readonly what: string;
  readonly limit: number;
  readonly accept?: string;
  /** `Authorization` header; not sent to other hosts after a redirect */
  readonly authorization?: string | undefined;
  /** `If-None-Match` */
  readonly knownTag?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** accepted status codes besides 200 */
  readonly expected?: readonly number[];
}

export interface Answer {
  readonly status: number;
  /** URL of the response after redirects */
  readonly url: URL;
  readonly body: Uint8Array;
  header(name: string): string | undefined;
}

const maxRedirects = 5;
/** Timeout without any data. */
const silenceMs = 30_000;
/** Timeout of the whole request, for servers that send very slowly. */
const longestMs = 10 * 60_000;
const redirects: readonly number[] = [301, 302, 303, 307, 308];
/** Maximum size of an error response that is read for its message. */
const maxErrorBytes = 16 * 1024;

/** Fetches by HTTP with limits on size, time and redirects, only from allowed peers. */
export class HttpFetcher {
  readonly #clock: Clock;
  readonly #peers: PeerPolicy;
  readonly #agent: Agent;
  readonly #userAgent: string;

  constructor({ clock, peers = anyPeer, ca, userAgent = 'capstan' }: HttpOptions) {
    this.#clock = clock;
    this.#peers = peers;
    this.#userAgent = userAgent;
    this.#agent = new Agent({
      connect: {
        lookup: guardedLookup(peers, lookup as never) as never,
        ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      },
      keepAliveTimeout: 10_000,
      connections: 16,
    });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /** Throws ArtifactError for every status except 200 and the expected ones. */
  async fetch(wanted: Fetch): Promise<Answer> {
    let { url, authorization } = wanted;
    for (let hop = 0; ; hop++) {
      const answer = await this.#ask({ ...wanted, url, authorization });
      const location = redirects.includes(answer.status) ? answer.header('location') : undefined;
      if (location === undefined) return this.#checked(answer, wanted);
      if (hop >= maxRedirects) {
        throw new ArtifactError('refused', `${wanted.what} is redirected more than ${maxRedirects} times`, {
          hint: 'name the address it is redirected to',
        });
      }
      const next = readUrl(location, url);
      if (url.protocol === 'https:' && next.protocol === 'http:') {
        throw new ArtifactError('refused', `${wanted.what}: ${shownUrl(url)} redirects to plain http at ${next.host}`, {
          hint: 'name an address that stays with https',
        });
      }
      // Credentials are valid only for their origin, including its port.
      if (next.origin !== url.origin) authorization = undefined;
      url = next;
    }
  }

  #checked(answer: Answer, { what, expected = [], authorization }: Fetch): Answer {
    const { status, url } = answer;
    if (status === 200 || expected.includes(status)) return answer;
    const where = `${what}: ${shownUrl(url)} answers ${status}`;
    if (status === 404 || status === 410) {
      throw new ArtifactError('notFound', where, { hint: 'check the name, the version and the address' });
    }
    if (status === 401 || status === 403) {
      const hint = authorization === undefined ? 'give credentials that may read it' : 'check the credentials';
      throw new ArtifactError('refused', where, { hint });
    }
    const isLater = status === 429 || status >= 500;
    throw new ArtifactError(isLater ? 'unreachable' : 'refused', where, {
      hint: isLater ? 'it is tried again' : 'check that the address is right',
    });
  }

  async #ask({ url, what, limit, accept, authorization, knownTag, signal, expected = [] }: Fetch): Promise<Answer> {
    const stop = new AbortController();
    const cancel = limitAnswer(this.#clock, longestMs, () =>
      stop.abort(new Error(`not done within ${longestMs / 60_000} minutes`)),
    );
    try {
      checkPeerHost(this.#peers, url.hostname);
      const answer = await request(url, {
        method: 'GET',
        dispatcher: this.#agent,
        headers: {
          'user-agent': this.#userAgent,
          ...(accept === undefined ? {} : { accept }),
          ...(authorization === undefined ? {} : { authorization }),
          ...(knownTag === undefined ? {} : { 'if-none-match': knownTag }),
        },
        signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      });
      const { statusCode: status, headers } = answer;
      const isWanted = status === 200 || expected.includes(status);
      const header = (name: string): string | undefined => {
        const value = headers[name];
        return Array.isArray(value) ? value[0] : value;
      };
      const body = await bodyOf(answer.body as AsyncIterable<Buffer>, {
        limit: isWanted ? limit : maxErrorBytes,
        announced: Number(header('content-length') ?? 0),
        isWanted,
        what,
        url,
      });
      return { status, url, body, header };
    } catch (cause) {
      if (cause instanceof ArtifactError) throw cause;
      if (signal?.aborted) throw signal.reason;
      throw connectionError(what, url, stop.signal.aborted ? stop.signal.reason : cause);
    } finally {
      cancel();
    }
  }
}

interface BodyOptions {
  readonly limit: number;
  readonly announced: number;
  readonly isWanted: boolean;
  readonly what: string;
  readonly url: URL;
}

async function bodyOf(
  body: AsyncIterable<Buffer>,
  { limit, announced, isWanted, what, url }: BodyOptions,
): Promise<Uint8Array> {
  const tooLarge = (): ArtifactError =>
    new ArtifactError('tooLarge', `${what}: ${shownUrl(url)} is larger than ${limit} bytes`, {
      hint: 'publish a smaller one: nothing larger is taken',
    });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (isWanted && announced > limit) throw tooLarge();
    bytes += chunk.length;
    if (bytes > limit) {
      if (isWanted) throw tooLarge();
      break;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Causes by error code of Node and undici. */
const causes: readonly (readonly [RegExp, string, string])[] = [
  [/^ECONNREFUSED$/, 'refuses connections', 'check the address and port, and whether the server runs'],
  [/^(?:ENOTFOUND|EAI_)/, 'cannot be found by name', 'check the host name and DNS'],
  [
    /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_UNTRUSTED/,
    'has a certificate that is not trusted',
    'give the authority that signed it',
  ],
  [/^CERT_HAS_EXPIRED$/, 'has a certificate that has expired', 'have it renewed'],
  [/ALTNAME_INVALID/, 'has a certificate for another name', 'use the name in the certificate'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH|EPROTO/, 'does not speak TLS', 'check whether it is plain http'],
  [/TIMEOUT|ETIMEDOUT/, 'does not answer in time', 'check the network and whether the server runs'],
];

function connectionError(what: string, url: URL, cause: unknown): ArtifactError {
  const refused = find(cause, (one) => one instanceof PeerRefusedError);
  if (refused instanceof PeerRefusedError) {
    const hint = refused.hint === undefined ? {} : { hint: refused.hint };
    return new ArtifactError('peer', `${what}: ${refused.message}`, { ...hint, cause });
  }
  const codes = new Set<string>();
  find(cause, (one) => {
    if (typeof one === 'object' && one !== null && 'code' in one) codes.add(String(one.code));
    return false;
  });
  for (const [pattern, says, hint] of causes) {
    if ([...codes].some((code) => pattern.test(code))) {
      return new ArtifactError('unreachable', `${what}: ${url.host} ${says}`, { hint, cause });
    }
  }
  return new ArtifactError(
    'unreachable',
    `${what}: ${url.host} does not answer: ${printableLine(errorMessage(cause))}`,
    {
      hint: 'check the address and the way there',
      cause,
    },
  );
}

/** Searches an error, its causes and its aggregated errors. */
function find(error: unknown, isIt: (one: unknown) => boolean, depth = 0): unknown {
  if (depth > 8 || typeof error !== 'object' || error === null) return undefined;
  if (isIt(error)) return error;
  const inner = [(error as { cause?: unknown }).cause, ...((error as { errors?: unknown[] }).errors ?? [])];
  for (const one of inner) {
    const found = find(one, isIt, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
