import type { Caller } from '../caller.ts';
import type { ServiceDefinition } from '../service.ts';
import { Query } from './query.ts';

const decoder = new TextDecoder();

/** One request as its handler sees it. Query and body are parsed when first asked for. */
export class RequestContext {
  readonly service: ServiceDefinition;
  readonly method: string;
  /** below the service's root */
  readonly path: string;
  readonly requestId: string;
  /** scheme and authority the client used: `http://127.0.0.1:8080` */
  readonly origin: string;
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array | string | undefined;
  readonly queryText: string;
  params: Readonly<Record<string, string>> = {};
  /** the minor microversion in force: 60 for compute 2.60; 0 where there are none; -1 when it could not be told */
  minor = -1;
  #caller: Caller | undefined;
  #query: Query | undefined;
  #json: { value: unknown } | undefined;

  constructor(options: {
    service: ServiceDefinition;
    method: string;
    path: string;
    queryText: string;
    requestId: string;
    origin: string;
    headers: Readonly<Record<string, string>>;
    rawBody: Uint8Array | string | undefined;
  }) {
    this.service = options.service;
    this.method = options.method;
    this.path = options.path;
    this.queryText = options.queryText;
    this.requestId = options.requestId;
    this.origin = options.origin;
    this.headers = options.headers;
    this.rawBody = options.rawBody;
  }

  /** Who asks. Routes that need no token must use `optionalCaller`. */
  get caller(): Caller {
    if (!this.#caller) throw new Error(`${this.method} ${this.path} has no caller`);
    return this.#caller;
  }

  set caller(caller: Caller) {
    this.#caller = caller;
  }

  get optionalCaller(): Caller | undefined {
    return this.#caller;
  }

  /** The project the token is scoped to; policies keep unscoped tokens away from routes that need one. */
  get project(): string {
    return this.caller.projectId ?? '';
  }

  get query(): Query {
    this.#query ??= new Query(this.queryText);
    return this.#query;
  }

  /** The service's root as the client reaches it: `http://127.0.0.1:8080/compute`. */
  get serviceUrl(): string {
    return this.origin + this.service.root;
  }

  param(name: string): string {
    const value = this.params[name];
    if (value === undefined) throw new Error(`${this.path} has no parameter ${name}`);
    return value;
  }

  /** The body as JSON; undefined without a body. Throws the service's refusal when it is not JSON. */
  get json(): unknown {
    this.#json ??= { value: this.#parse() };
    return this.#json.value;
  }

  get bytes(): Uint8Array {
    const { rawBody } = this;
    if (rawBody === undefined) return new Uint8Array();
    return typeof rawBody === 'string' ? Buffer.from(rawBody) : rawBody;
  }

  #parse(): unknown {
    const { rawBody } = this;
    if (rawBody === undefined || rawBody.length === 0) return undefined;
    try {
      return JSON.parse(typeof rawBody === 'string' ? rawBody : decoder.decode(rawBody));
    } catch {
      throw this.service.badJson(this);
    }
  }
}
