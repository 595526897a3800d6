import { type ClientHttp2Session, connect } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import {
  type CancelTimer,
  CapstanError,
  type Clock,
  errorMessage,
  formatTime,
  limitAnswer,
} from '../../../machinery/index.ts';
import { shownText } from './json-body.ts';
import { linkTimes } from './names.ts';
import { ask, skewOf } from './wire.ts';

export interface SessionOptions {
  readonly cluster: string;
  readonly keyHash: string;
  /** uid of the parent's kube-system namespace */
  readonly parent: string;
  readonly clock: Clock;
  /** called when the other side answers or the session ends */
  onChange(): void;
}

/** An API client uses a few connections, plus one per watch. */
const maxTunnels = 64;

/**
 * Parent's side of a cluster's stream. The cluster dials, then the parent sends HTTP/2 requests and the cluster
 * answers; a cluster cannot send requests to its parent.
 */
export class Session {
  readonly cluster: string;
  readonly keyHash: string;
  readonly openedAt: number;
  lastHeardAt: number;
  /** the cluster's reason for refusing this parent */
  refusal: string | undefined;
  /** seconds by which its clock is ahead, if noteworthy */
  skew: number | undefined;
  #isOpen = false;
  #tunnels = 0;
  readonly #http: ClientHttp2Session;
  readonly #options: SessionOptions;
  #cancelBeat: CancelTimer = () => {};

  constructor(socket: TLSSocket, options: SessionOptions) {
    const { cluster, keyHash, clock } = options;
    this.cluster = cluster;
    this.keyHash = keyHash;
    this.#options = options;
    this.openedAt = clock.now();
    this.lastHeardAt = this.openedAt;
    this.#http = connect(`https://${cluster}`, {
      createConnection: () => socket,
      settings: { enablePush: false },
      maxHeaderListPairs: 32,
      maxSessionMemory: 32,
    });
    this.#http.on('error', () => {});
    this.#http.once('close', () => this.#end());
    // server push is disabled; reset any pushed stream
    this.#http.on('stream', (stream: Duplex) => void stream.destroy());
  }

  /** Asks the cluster whether it accepts the parent, and sends heartbeats. */
  start(): void {
    void this.#beat();
  }

  /** Tells whether the cluster has accepted and the stream is usable. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#http.destroyed && !this.#http.closed;
  }

  /** Opens a byte stream to the API of the cluster. */
  async dial(): Promise<Duplex> {
    if (!this.isOpen) throw new CapstanError('CAP_LATTICE_LINK', `the stream of cluster ${this.cluster} is closed`);
    if (this.#tunnels >= maxTunnels) {
      throw new CapstanError('CAP_LATTICE_LINK', `${maxTunnels} connections through the stream are open already`);
    }
    this.#tunnels++;
    const stream = this.#http.request({ ':method': 'CONNECT', ':authority': 'kube-apiserver' });
    stream.once('close', () => {
      this.#tunnels--;
    });
    return await new Promise<Duplex>((resolve, reject) => {
      const late = new CapstanError('CAP_LATTICE_LINK', `no answer within ${linkTimes.connectMs / 1000} s`);
      const cancel = limitAnswer(this.#options.clock, linkTimes.connectMs, () => stream.destroy(late));
      const fail = (error: unknown): void => {
        cancel();
        reject(error);
      };
      stream.once('error', fail).once('close', () => fail(new Error('the stream was closed')));
      stream.once('response', (headers) => {
        cancel();
        if (headers[':status'] === 200) return resolve(stream);
        stream.destroy();
        reject(
          new CapstanError('CAP_LATTICE_LINK', `the cluster does not reach its API (code ${headers[':status'] ?? 0})`),
        );
      });
      stream.on('error', () => {});
    });
  }

  /** Sends the reason, then closes. */
  async refuse(reason: string): Promise<void> {
    await ask(this.#http, { path: '/refused', body: { reason }, clock: this.#options.clock }).catch(() => {});
    this.close();
  }

  close(): void {
    this.#http.destroy();
  }

  async #beat(): Promise<void> {
    const { clock, parent, cluster, onChange } = this.#options;
    try {
      const body = { parent, cluster, time: formatTime(clock.now()) };
      const { code, answer } = await ask(this.#http, { path: '/heartbeat', body, clock });
      this.lastHeardAt = clock.now();
      const wasOpen = this.#isOpen;
      this.#isOpen = code === 200;
      this.refusal = code === 200 ? undefined : (shownText(answer['error']) ?? `it answered with code ${code}`);
      const before = this.skew;
      this.skew = skewOf(answer['time'], clock);
      if (wasOpen !== this.#isOpen || (before === undefined) !== (this.skew === undefined)) onChange();
      if (!this.#isOpen) return this.close();
      this.#cancelBeat = clock.after(linkTimes.heartbeatMs, () => void this.#beat());
    } catch (error) {
      this.refusal ??= this.#isOpen ? undefined : errorMessage(error);
      this.close();
    }
  }

  #end(): void {
    this.#cancelBeat();
    this.#isOpen = false;
    this.#options.onChange();
  }
}
