import type { CloudConfig } from '../config/cloud-config.ts';
import type { ServiceType } from '../config/service-types.ts';
import { type ServiceUrls, serviceUrls } from '../discovery/endpoint-url.ts';
import { compareVersions, newestVersion } from '../discovery/versions.ts';
import { OpenStackError } from '../errors/openstack-error.ts';
import { withoutLogin } from '../errors/redact.ts';
import { findEndpoint } from '../identity/catalogue.ts';
import type { Session } from '../identity/session.ts';
import { Answer } from './answer.ts';
import { type Query, queryText } from './query.ts';

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Call extends CallOptions {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** below the versioned endpoint, starting with a slash */
  readonly path: string;
  readonly query?: Query | undefined;
  /** an encoded query, `?…` */
  readonly queryText?: string | undefined;
  readonly json?: unknown;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  /** microversion for this call only; null for none */
  readonly microversion?: string | null | undefined;
  /** minimum microversion of the call, and the feature that needs it */
  readonly needs?: { readonly version: string; readonly for: string } | undefined;
  /** whether the request is idempotent; derived from the verb if absent */
  readonly repeatable?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
}

interface MicroversionPolicy {
  /** service name in the OpenStack-API-Version header */
  readonly header: string;
  /** newest supported microversion, which is requested from newer clouds */
  readonly newest: string;
  /** clouds with older maximums are rejected */
  readonly oldest: string;
}

/** Cinder is missing, because its first microversion is sufficient. */
const microversionPolicies: Partial<Record<ServiceType, MicroversionPolicy>> = {
  compute: { header: 'compute', newest: '2.90', oldest: '2.37' },
};

const versionHeaders: Partial<Record<ServiceType, string>> = { compute: 'compute', volume: 'volume' };

/** Client for one service of one cloud. */
export class ServiceClient {
  readonly type: ServiceType;
  readonly #session: Session;
  readonly #config: CloudConfig;
  #urls: { catalogue: object; urls: ServiceUrls } | undefined;

  constructor(type: ServiceType, session: Session, config: CloudConfig) {
    this.type = type;
    this.#session = session;
    this.#config = config;
  }

  now(): number {
    return this.#session.clock.now();
  }

  async request(call: Call): Promise<Answer> {
    const base = (await this.#locate(call.signal)).resources;
    const version =
      call.microversion === undefined ? await this.microversion(call.signal) : (call.microversion ?? undefined);
    if (call.needs) this.#check(call.needs, version);
    const { path, method } = call;
    const response = await this.#session.exchange.send(
      {
        service: this.type,
        method,
        base,
        path,
        query: call.queryText ?? queryText(call.query),
        headers: { ...this.#versionHeaders(version), ...call.headers },
        ...(call.json !== undefined && { json: call.json }),
        ...(await this.#content(call.body)),
        signal: call.signal,
        timeoutMs: call.timeoutMs,
        repeatable: call.repeatable,
      },
      this.#session.tokens,
    );
    return new Answer({ service: this.type, method, path, origin: withoutLogin(base) }, response);
  }

  /** Microversion used with this service; undefined if it has none. */
  async microversion(signal?: AbortSignal): Promise<string | undefined> {
    const configured = this.#config.services[this.type]?.microversion;
    const policy = microversionPolicies[this.type];
    if (configured !== undefined || !policy) return configured;
    const { versions } = await this.#locate(signal);
    const offered = (await this.#session.versions(this.type, versions)).microversions;
    if (!offered || compareVersions(offered.max, policy.oldest) < 0) {
      throw new OpenStackError({
        kind: 'unsupported',
        service: this.type,
        detail: `the cloud offers microversions up to ${offered?.max ?? 'none'}, at least ${policy.oldest} is needed`,
        cure: 'use a newer cloud',
      });
    }
    return compareVersions(offered.max, policy.newest) < 0 ? offered.max : policy.newest;
  }

  /** Reports whether the service supports this version (octavia's minor versions) or microversion (nova's). */
  async supports(version: string, options: CallOptions = {}): Promise<boolean> {
    const used = await this.microversion(options.signal);
    if (used !== undefined) return compareVersions(used, version) >= 0;
    const { versions } = await this.#locate(options.signal);
    const newest = newestVersion((await this.#session.versions(this.type, versions)).ids);
    return newest !== undefined && compareVersions(newest, version) >= 0;
  }

  /** Returns the endpoint in use. */
  async endpoint(options: CallOptions = {}): Promise<string> {
    return (await this.#locate(options.signal)).resources;
  }

  async #locate(signal: AbortSignal | undefined): Promise<ServiceUrls> {
    const { info } = await this.#session.tokens.current(signal);
    // A renewed token may contain a changed catalogue.
    if (this.#urls?.catalogue !== info.catalogue) {
      const scoped = info.project !== undefined || info.domain !== undefined || info.system;
      const endpoint =
        this.type === 'identity' && !scoped
          ? this.#config.authUrl
          : findEndpoint(info.catalogue, this.type, this.#config, { scoped });
      this.#urls = { catalogue: info.catalogue, urls: serviceUrls(this.type, endpoint, info.project?.id) };
    }
    return this.#urls.urls;
  }

  #versionHeaders(version: string | undefined): Record<string, string> {
    const header = versionHeaders[this.type];
    return version === undefined || header === undefined ? {} : { 'openstack-api-version': `${header} ${version}` };
  }

  #check(needs: { version: string; for: string }, used: string | undefined): void {
    if (used !== undefined && compareVersions(used, needs.version) >= 0) return;
    throw new OpenStackError({
      kind: 'unsupported',
      service: this.type,
      detail: `${needs.for} needs microversion ${needs.version}, ${used ?? 'none'} is in use`,
      cure: `leave it out, use a newer cloud, or raise ${this.type}_default_microversion in clouds.yaml`,
    });
  }

  async #content(body: Call['body']): Promise<{ body?: Uint8Array; stream?: AsyncIterable<Uint8Array> }> {
    if (body === undefined) return {};
    if (body instanceof Uint8Array) return { body };
    if (this.#session.transport.streams === true) return { stream: body };
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return { body: Buffer.concat(chunks) };
  }
}
