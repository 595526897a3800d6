import type { KubeObject } from '../../machinery/index.ts';
import {
  type Answer,
  type Connection,
  connect,
  type Endpoint,
  type Headers,
  type Protocol,
  readAnswer,
} from './connection.ts';
import { WatchStream } from './watch-stream.ts';

type Body = string | Uint8Array | object;

export const jsonPatch = 'application/json-patch+json';
export const mergePatch = 'application/merge-patch+json';
export const strategicPatch = 'application/strategic-merge-patch+json';
export const applyPatch = 'application/apply-patch+yaml';

/** A test client that exposes status, headers and bytes. */
export class Api {
  readonly endpoint: Endpoint;
  readonly #connection: Connection;
  readonly #headers: Headers;

  constructor(endpoint: Endpoint, protocol: Protocol = 'h2', headers: Headers = {}) {
    this.endpoint = endpoint;
    this.#connection = connect(endpoint, protocol);
    this.#headers = { 'user-agent': 'test/1.0', accept: 'application/json', ...headers };
  }

  async request(method: string, path: string, body?: Body, headers: Headers = {}): Promise<Answer> {
    const bytes = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : toJson(body);
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return readAnswer(await this.#connection.send(method, path, { ...this.#headers, ...type, ...headers }, bytes));
  }

  get(path: string, headers?: Headers): Promise<Answer> {
    return this.request('GET', path, undefined, headers);
  }

  post(path: string, body: Body, headers?: Headers): Promise<Answer> {
    return this.request('POST', path, body, headers);
  }

  put(path: string, body: Body, headers?: Headers): Promise<Answer> {
    return this.request('PUT', path, body, headers);
  }

  patch(path: string, type: string, body: Body, headers?: Headers): Promise<Answer> {
    return this.request('PATCH', path, body, { 'content-type': type, ...headers });
  }

  delete(path: string, body?: Body, headers?: Headers): Promise<Answer> {
    return this.request('DELETE', path, body, headers);
  }

  /** Creates an object and fails the test otherwise. */
  async create<T extends KubeObject>(path: string, object: T): Promise<Answer> {
    const answer = await this.post(path, object);
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  apply(path: string, body: Body, headers?: Headers): Promise<Answer> {
    return this.patch(path, applyPatch, body, headers);
  }

  async watch(path: string, headers: Headers = {}): Promise<WatchStream> {
    return new WatchStream(await this.#connection.send('GET', path, { ...this.#headers, ...headers }));
  }

  close(): void {
    this.#connection.close();
  }
}

function toJson(body: object): string {
  return JSON.stringify(body);
}
