import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { type FailedRequest, foreignAnswer, requestIdOf } from '../errors/classify.ts';
import { OpenStackError } from '../errors/openstack-error.ts';
import { MalformedMember } from '../resource/read.ts';
import type { TransportResponse } from '../transport/types.ts';

/** A successful response, parsed as JSON on demand. */
export class Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly #request: Omit<FailedRequest, 'secrets'>;
  #json: { value: JsonValue } | undefined;

  constructor(request: Omit<FailedRequest, 'secrets'>, response: TransportResponse) {
    this.#request = request;
    this.status = response.status;
    this.headers = response.headers;
    this.body = response.body;
  }

  get requestId(): string | undefined {
    return requestIdOf(this.headers);
  }

  /** Returns the body; undefined if empty. A body that is not JSON means that no OpenStack service answered. */
  json(): JsonValue | undefined {
    if (this.body.length === 0) return undefined;
    if (!this.#json) {
      try {
        this.#json = { value: JSON.parse(textOf(this.body)) as JsonValue };
      } catch {
        throw foreignAnswer({ ...this.#request, secrets: [] }, this);
      }
    }
    return this.#json.value;
  }

  object(): JsonObject {
    const value = this.json();
    if (isJsonObject(value)) return value;
    throw this.unexpected('the answer is not an object');
  }

  /** Returns the object under `key`, which wraps most responses. */
  member(key: string): JsonObject {
    const value = this.object()[key];
    if (isJsonObject(value)) return value;
    throw this.unexpected(`the answer has no "${key}"`);
  }

  /** Returns the list of objects under `key`. */
  members(key: string): JsonObject[] {
    const value = this.object()[key];
    if (Array.isArray(value)) return value as JsonObject[];
    throw this.unexpected(`the answer has no list "${key}"`);
  }

  /** Parses the object under `key`. */
  one<T>(key: string, parse: (value: JsonObject) => T): T {
    const value = this.member(key);
    return this.#read(() => parse(value));
  }

  /** Parses each object of the list under `key`. */
  many<T>(key: string, parse: (value: JsonObject) => T): T[] {
    const values = this.members(key);
    return this.#read(() => values.map(parse));
  }

  /** Parses the whole response. */
  whole<T>(parse: (value: JsonObject) => T): T {
    const value = this.object();
    return this.#read(() => parse(value));
  }

  #read<T>(parse: () => T): T {
    try {
      return parse();
    } catch (error) {
      if (error instanceof MalformedMember) throw this.unexpected(error.message);
      throw error;
    }
  }

  /** Builds the error for an invalid response. */
  unexpected(detail: string): OpenStackError {
    const { service, method, path } = this.#request;
    return new OpenStackError({
      kind: 'unexpected',
      service,
      detail,
      cure: 'check that the endpoint in the service catalogue is the right one',
      method,
      path,
      status: this.status,
      requestId: this.requestId,
    });
  }
}

function textOf(body: Uint8Array): string {
  // Buffer decodes large responses several times faster than TextDecoder.
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}
