import { type Clock, errorMessage } from '../../../machinery/index.ts';
import { fetchJson } from './fetch-json.ts';
import { type IssuerKey, parseKeySet } from './signatures.ts';

export interface IssuerKeysOptions {
  issuerUrl: string;
  /** PEM of the CA of the issuer's serving certificate; default: system CAs */
  ca?: string;
  clock: Clock;
  onError(message: string): void;
  /** replaces HTTP in tests */
  fetch?: typeof fetchJson;
}

/** Maximum age of keys; refreshing drops revoked keys. */
const freshMs = 10 * 60_000;
/** Minimum time between fetches. Tokens with unknown keys may be garbage and must not cause more requests. */
const betweenMs = 10_000;
const firstRetryMs = 1000;
const lastRetryMs = 60_000;

/**
 * Caches the keys of an OpenID Connect issuer. Keys are found by discovery and fetched again regularly and when a token
 * names an unknown key.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #stop = new AbortController();
  #keys: readonly IssuerKey[] = [];
  #known = false;
  #revision = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #retryMs = firstRetryMs;
  #cancel: (() => void) | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    void this.#ask();
  }

  /** increases whenever the keys change */
  get revision(): number {
    return this.#revision;
  }

  /** whether the issuer has answered at least once */
  get known(): boolean {
    return this.#known;
  }

  /** Returns the keys that may verify a token with this key id. */
  candidates(id: unknown): readonly IssuerKey[] {
    return typeof id === 'string' ? this.#keys.filter((key) => key.id === id) : this.#keys;
  }

  /** Fetches the keys if they may contain the named one; undefined if there is nothing to wait for. */
  seek(id: unknown): Promise<void> | undefined {
    if (this.candidates(id).length > 0) return undefined;
    if (this.#asking) return this.#asking;
    return this.#options.clock.now() - this.#askedAt >= betweenMs ? this.#ask() : undefined;
  }

  close(): void {
    this.#stop.abort();
    this.#cancel?.();
  }

  #ask(): Promise<void> {
    this.#cancel?.();
    this.#asking ??= this.#load()
      .then(
        () => {
          this.#retryMs = firstRetryMs;
          return freshMs;
        },
        (error: unknown) => {
          if (!this.#stop.signal.aborted) {
            this.#options.onError(`keys of the issuer ${this.#options.issuerUrl}: ${errorMessage(error)}`);
          }
          const pause = this.#retryMs;
          this.#retryMs = Math.min(lastRetryMs, pause * 2);
          return pause;
        },
      )
      .then((pauseMs) => {
        this.#asking = undefined;
        if (this.#stop.signal.aborted) return;
        this.#cancel = this.#options.clock.after(pauseMs, () => void this.#ask());
      });
    return this.#asking;
  }

  async #load(): Promise<void> {
    const { issuerUrl, ca, clock, fetch = fetchJson } = this.#options;
    this.#askedAt = clock.now();
    const options = { signal: this.#stop.signal, ...(ca !== undefined && { ca }) };
    const configuration = await fetch(`${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`, options);
    const { issuer, jwks_uri: keysUrl } = (configuration ?? {}) as Record<string, unknown>;
    if (issuer !== issuerUrl) throw new Error('it says to be another issuer');
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://'))
      throw new Error('it names no jwks_uri by https');
    const keys = parseKeySet(await fetch(keysUrl, options));
    if (!keys) throw new Error('its jwks_uri does not answer with a key set');
    this.#keys = keys;
    this.#known = true;
    this.#revision++;
  }
}
