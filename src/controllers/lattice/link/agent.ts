import { createPrivateKey, createPublicKey } from 'node:crypto';
import { request } from 'node:http';
import { type Http2Session, performServerHandshake, type ServerHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import {
  type CancelTimer,
  CapstanError,
  type Clock,
  errorMessage,
  formatTime,
  ignoreNotFound,
  limitAnswer,
  type Random,
} from '../../../machinery/index.ts';
import { createCsr, generateKeys } from '../../../pki/index.ts';
import type { Logger } from '../../../runtime/index.ts';
import type { Verdict } from '../../shared/index.ts';
import { latticeFieldManager } from '../names.ts';
import { hashOfKey } from './authority.ts';
import { sha256 } from './enrolment.ts';
import { objectOf, readMessage, shownText } from './json-body.ts';
import { agentCredentialsKey, agentOrganization, agentProtocol, csrPath, linkTimes } from './names.ts';
import {
  type AgentCredentials,
  certificateFacts,
  credentialsOf,
  credentialsSecret,
  type ParentConfig,
} from './parent-config.ts';
import { clockWords, handshakeProblem, secure, skewOf } from './wire.ts';

/** Opens both ends of the stream inside a cluster. */
export interface AgentDials {
  /** dials the parent's endpoints */
  parent(host: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /** dials the API of the cluster itself */
  api(): Promise<Duplex>;
}

export interface AgentOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly dials: AgentDials;
  /** parent according to the cluster itself; undefined without one */
  ownParent(): string | undefined;
  /** the stream was opened or lost, or the verdict changed */
  onChange(): void;
}

const by = { fieldManager: latticeFieldManager };
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** A refused token stays refused, so the retry is slow. */
const refusedPauseMs = 60_000;
const maxStreams = 128;
const maxAnswerBytes = 65_536;

/** The parent refused, with a reason. */
class RefusedError extends CapstanError {
  constructor(message: string) {
    super('CAP_LATTICE_LINK', message);
  }
}

/** The newly issued certificate is not valid by the local clock. */
class ClockOffError extends CapstanError {
  constructor(words: string) {
    super('CAP_LATTICE_LINK', words);
  }
}

/** Keeps a stream from a cluster to its parent: dials out, and answers the parent's requests. */
export class Agent {
  readonly #options: AgentOptions;
  #session: { readonly http: Http2Session; readonly made: string } | undefined;
  #verdict: Verdict | undefined;
  #failures = 0;
  /** config of the last stream, and earliest time of the next attempt */
  #rest = { made: '', until: 0 };
  #lastHeardAt: number | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#session !== undefined;
  }

  /** Verdict about the parent; undefined without one. */
  get verdict(): Verdict | undefined {
    return this.#verdict;
  }

  /** Dials if there is no stream; returns when to try again. */
  async keep(config: ParentConfig, signal: AbortSignal): Promise<{ againMs: number } | undefined> {
    const made = sha256(JSON.stringify(config));
    if (this.#session && this.#session.made === made && !this.#session.http.destroyed) return undefined;
    const restMs = this.#rest.until - this.#options.clock.now();
    if (this.#rest.made === made && restMs > 0) return { againMs: restMs };
    this.#hangUp();
    try {
      const credentials = await this.#credentials(config, signal);
      const http = await this.#dial(config, credentials, signal);
      this.#session = { http, made };
      http.once('close', () => {
        if (this.#session?.http !== http) return;
        this.#session = undefined;
        const isRefused = this.#verdict?.reason === 'Refused';
        // jitter, so that the clusters of a restarted parent do not all dial at once
        const pause = isRefused ? refusedPauseMs : firstPauseMs * 2 * this.#options.random.next();
        this.#rest = { made, until: this.#options.clock.now() + pause };
        if (isRefused) this.#options.onChange();
        else this.#say({ status: 'False', reason: 'Disconnected', message: `the stream ended${this.#heard()}` });
      });
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#failures++;
      const isRefused = error instanceof RefusedError;
      const { host, agentPort } = config;
      const clock = handshakeProblem(error, config.authority, this.#options.clock);
      const isClockOff = clock !== undefined || error instanceof ClockOffError;
      const why = clock === undefined ? errorMessage(error) : `${errorMessage(error)}; ${clock}`;
      const verdict: Verdict = {
        status: 'False',
        reason: isRefused ? 'Refused' : isClockOff ? 'ClockOff' : 'NotReached',
        message: isRefused ? why : `the parent at ${host}:${agentPort} is not reached: ${why}${this.#heard()}`,
      };
      const usual = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#failures - 1, 10));
      const againMs = isRefused ? refusedPauseMs : usual * (0.5 + this.#options.random.next() / 2);
      // set before the notification, which may trigger a reconcile: that must not shorten the delay
      this.#rest = { made, until: this.#options.clock.now() + againMs };
      this.#say(verdict);
      return { againMs };
    }
  }

  /** Ends the stream: there is no parent, or the process stops. */
  stop(): void {
    this.#hangUp();
    this.#verdict = undefined;
  }

  #heard(): string {
    return this.#lastHeardAt === undefined ? '' : `; it was last heard at ${formatTime(this.#lastHeardAt)}`;
  }

  #hangUp(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.http.destroy();
  }

  #say(verdict: Verdict): void {
    const known = this.#verdict;
    this.#verdict = verdict;
    if (known?.reason !== verdict.reason || known.message !== verdict.message) {
      this.#options.log.info('The way to the parent', { reason: verdict.reason, state: verdict.message });
    }
    this.#options.onChange();
  }

  /** Returns stored credentials, or enrolls if the parent has sent a new token. */
  async #credentials(config: ParentConfig, signal: AbortSignal): Promise<AgentCredentials> {
    const { client, clock } = this.#options;
    const secret = await client.get(Secrets, agentCredentialsKey, { signal }).catch(ignoreNotFound);
    const known = credentialsOf(secret);
    const facts = certificateFacts(known.certificate, config.authority);
    const tokenHash = sha256(config.token);
    const isUsable = facts !== undefined && facts.notAfter > clock.now();
    if (isUsable && (config.token === '' || known.tokenHash === tokenHash)) return known;
    if (config.token === '') throw new RefusedError('there is no certificate, and the parent has sent no token');
    // store the key before it is used: a retry with the same key gets the same answer
    const key =
      known.nextTokenHash === tokenHash && known.nextKey !== ''
        ? known.nextKey
        : await this.#keepKey({ ...known, nextTokenHash: tokenHash }, signal);
    const certificate = await this.#enrol(config, key, signal);
    const got = certificateFacts(certificate, config.authority);
    if (got?.keyHash !== keyHashOf(key)) {
      throw new RefusedError('the parent answered with a certificate that is not the one asked for');
    }
    const now = clock.now();
    if (got.notAfter < now || got.notBefore > now) throw new ClockOffError(clockWords(certificate, clock));
    const made: AgentCredentials = { certificate, key, tokenHash, nextKey: '', nextTokenHash: '' };
    await this.#write(made, signal);
    return made;
  }

  async #keepKey(known: AgentCredentials, signal: AbortSignal): Promise<string> {
    const { privateKey } = await generateKeys();
    await this.#write({ ...known, nextKey: privateKey }, signal);
    return privateKey;
  }

  async #write(credentials: AgentCredentials, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    await client.apply(Secrets, credentialsSecret(credentials), { ...by, force: true, signal });
  }

  /** Exchanges the one-time token for a certificate. */
  async #enrol(config: ParentConfig, privateKey: string, signal: AbortSignal): Promise<string> {
    const { cluster, host, bootstrapPort, authority, token } = config;
    const { clock } = this.#options;
    const { csr } = await createCsr({ commonName: cluster, organizations: [agentOrganization], privateKey });
    const socket = await this.#reach(host, bootstrapPort, signal);
    const secured = await secure(socket, { host, ca: authority, clock });
    try {
      const { code, text } = await post(secured, { path: csrPath(cluster), host, token, body: csr, clock });
      if (code === 200) return text;
      const said = shownText(objectOf(text)['error']) ?? 'it says no more';
      throw code >= 500
        ? new CapstanError('CAP_LATTICE_LINK', `it answered with code ${code}: ${said}`)
        : new RefusedError(`the parent gave no certificate (code ${code}): ${said}`);
    } finally {
      secured.destroy();
    }
  }

  async #reach(host: string, port: number, signal: AbortSignal): Promise<Duplex> {
    const { dials, clock } = this.#options;
    const giveUp = new AbortController();
    const late = new CapstanError('CAP_LATTICE_LINK', `no connection within ${linkTimes.connectMs / 1000} s`);
    const cancel = limitAnswer(clock, linkTimes.connectMs, () => giveUp.abort(late));
    try {
      return await dials.parent(host, port, AbortSignal.any([signal, giveUp.signal]));
    } finally {
      cancel();
    }
  }

  async #dial(config: ParentConfig, credentials: AgentCredentials, signal: AbortSignal): Promise<Http2Session> {
    const { host, agentPort, authority } = config;
    const { clock } = this.#options;
    const { certificate: cert, key } = credentials;
    const socket = await this.#reach(host, agentPort, signal);
    const secured = await secure(socket, { host, ca: authority, cert, key, protocol: agentProtocol, clock });
    const http = performServerHandshake(secured, {
      settings: { maxConcurrentStreams: maxStreams, enablePush: false },
      maxHeaderListPairs: 32,
      maxSessionMemory: 32,
    });
    http.on('error', () => {});
    new Conversation(http, { config, agent: this.#voice(), ...this.#options });
    return http;
  }

  #voice(): Voice {
    return {
      onHeard: (skew) => {
        const { clock } = this.#options;
        const isNew = this.#verdict?.status !== 'True';
        this.#lastHeardAt = clock.now();
        this.#failures = 0;
        const off =
          skew === undefined ? '' : `; the clock here is ${Math.abs(skew)} s ${skew < 0 ? 'ahead' : 'behind'}: set it`;
        const since = isNew ? `the parent answers since ${formatTime(clock.now())}` : baseOf(this.#verdict);
        const message = `${since}${off}`;
        if (isNew || message !== this.#verdict?.message) this.#say({ status: 'True', reason: 'Connected', message });
      },
      onRefused: (reason) => this.#say({ status: 'False', reason: 'Refused', message: reason }),
    };
  }
}

const baseOf = (verdict: Verdict | undefined): string => (verdict?.message ?? '').split(';')[0] ?? '';

interface Voice {
  /** `skew`: seconds by which the parent's clock is ahead, if noteworthy */
  onHeard(skew: number | undefined): void;
  onRefused(reason: string): void;
}

/** Answers the parent's requests on one stream. */
class Conversation {
  readonly #http: Http2Session;
  readonly #options: AgentOptions & { config: ParentConfig; agent: Voice };
  #isAgreed = false;
  #cancelSilence: CancelTimer;

  constructor(http: Http2Session, options: AgentOptions & { config: ParentConfig; agent: Voice }) {
    this.#http = http;
    this.#options = options;
    this.#cancelSilence = this.#listen();
    http.once('close', () => this.#cancelSilence());
    http.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => {});
      this.#answer(stream, `${headers[':method']} ${headers[':path'] ?? ''}`).catch((error: unknown) => {
        options.log.debug('A question of the parent was not answered', { problem: errorMessage(error) });
        stream.destroy();
      });
    });
  }

  #listen(): CancelTimer {
    return limitAnswer(this.#options.clock, linkTimes.silenceMs, () => this.#http.destroy());
  }

  async #answer(stream: ServerHttp2Stream, asked: string): Promise<void> {
    switch (asked) {
      case 'CONNECT ':
        return await this.#tunnel(stream);
      case 'POST /heartbeat':
        return await this.#heartbeat(stream);
      case 'POST /refused': {
        const reason = shownText(objectOf(await readMessage(stream))['reason']) ?? 'the parent does not say why';
        this.#options.agent.onRefused(`the parent refuses this cluster: ${reason}`);
        return reply(stream, 200, {});
      }
      default:
        return reply(stream, 404, { error: 'there is no such question' });
    }
  }

  async #heartbeat(stream: ServerHttp2Stream): Promise<void> {
    const { clock, config, agent, ownParent } = this.#options;
    const { parent, time } = objectOf(await readMessage(stream));
    const owner = ownParent() ?? config.parent;
    const now = clock.now();
    if (parent !== owner) {
      this.#isAgreed = false;
      const error = `the cluster belongs to another parent, whose kube-system has the uid ${owner}`;
      reply(stream, 409, { error, time: formatTime(now) });
      agent.onRefused(`${config.host} was told that ${error}`);
      return;
    }
    this.#isAgreed = true;
    this.#cancelSilence();
    this.#cancelSilence = this.#listen();
    agent.onHeard(skewOf(time, clock));
    reply(stream, 200, { time: formatTime(now) });
  }

  /** Forwards bytes between the parent and this cluster's API. The parent authenticates there with its kubeconfig. */
  async #tunnel(stream: ServerHttp2Stream): Promise<void> {
    if (!this.#isAgreed) return reply(stream, 403, { error: 'this is not agreed yet' });
    let api: Duplex;
    try {
      api = await this.#options.dials.api();
    } catch (error) {
      this.#options.log.warn('The API of the cluster is not reached', { problem: errorMessage(error) });
      return reply(stream, 502, {});
    }
    const end = (): void => {
      api.destroy();
      stream.destroy();
    };
    api.on('error', end).once('close', end);
    stream.once('close', end);
    if (stream.destroyed) return end();
    stream.respond({ ':status': 200 });
    stream.pipe(api).pipe(stream);
  }
}

function reply(stream: ServerHttp2Stream, code: number, body: object): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': code, 'content-type': 'application/json' });
  stream.end(JSON.stringify(body));
}

const keyHashOf = (privateKey: string): string => hashOfKey(createPublicKey(createPrivateKey(privateKey)));

interface Posted {
  readonly path: string;
  readonly host: string;
  readonly token: string;
  readonly body: string;
  readonly clock: Clock;
}

function post(secured: TLSSocket, { path, host, token, body, clock }: Posted): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const late = new CapstanError('CAP_LATTICE_LINK', `no answer within ${linkTimes.answerMs / 1000} s`);
    const cancel = limitAnswer(clock, linkTimes.answerMs, () => secured.destroy(late));
    const fail = (error: unknown): void => {
      cancel();
      reject(error);
    };
    const asked = request({
      createConnection: () => secured,
      method: 'POST',
      path,
      headers: {
        host,
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-pem-file',
        'content-length': Buffer.byteLength(body),
        connection: 'close',
      },
    });
    asked.once('error', fail).once('response', (response) => {
      readMessage(response, maxAnswerBytes).then((text) => {
        cancel();
        resolve({ code: response.statusCode ?? 0, text });
      }, fail);
    });
    asked.end(body);
  });
}
