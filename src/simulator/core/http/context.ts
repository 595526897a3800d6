import type { Caller } from '../caller.ts';
import type { ServiceDefinition } from '../service.ts';
import { Query } from './query.ts';

const decoder = new TextDecoder();

/** A request for its handler. Query and body are parsed lazily. */
export class RequestContext {
  readonly service: ServiceDefinition;
  readonly method: string;
  /** path below the service's root */
  readonly path: string;
  readonly requestId: string;
  /** scheme and authority the client used, for example `http://127.0.0.1:8080` */
  readonly origin: string;
  /** lower-case names */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array | string | undefined;
  readonly queryText: string;
  params: Readonly<Record<string, string>> = {};
  /**
   * minor microversion of the request: 60 for compute 2.60; 0 for services without microversions; -1 until it is known
   */
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

  /** The authenticated caller. Routes without authentication must use `optionalCaller`. */
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

  /** The project of the token. Policies refuse unscoped tokens on routes that need a project. */
  get project(): string {
    return this.caller.projectId ?? '';
  }

  get query(): Query {
    this.#query ??= new Query(this.queryText);
    return this.#query;
  }

  /** Root URL of the service for the client, for example `http://127.0.0.1:8080/compute`. */
  get serviceUrl(): string {
    return this.origin + this.service.root;
  }

  param(name: string): string {
    const value = this.params[name];
    if (value === undefined) throw new Error(`${this.path} has no parameter ${name}`);
    return value;
  }

  /** The parsed JSON body; undefined without a body. Throws the service's refusal if it is not JSON. */
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
