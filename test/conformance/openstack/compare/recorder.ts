import { setTimeout as delay } from 'node:timers/promises';
import type { AccountName, WireAnswer, WireCloud } from './wire.ts';

/** A request and its answer. Values that differ between runs are replaced by names. */
export interface Recorded {
  readonly request: string;
  readonly status: number;
  /** scenarios reduce bodies that depend on the whole contents of the cloud */
  body: Json;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers relevant to clients. The others belong to the web server. */
const comparedHeaders = [
  'content-type',
  'location',
  'www-authenticate',
  'vary',
  'openstack-api-version',
  'retry-after',
];

// biome-ignore lint/suspicious/noExplicitAny: scenarios walk freely through answers of many shapes
export type Json = any;

/** Sends requests to a cloud and records normalized answers for comparison with another cloud. */
export class Recorder {
  readonly records: Recorded[] = [];
  readonly #cloud: WireCloud;
  readonly #service: string;
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #undo: (() => Promise<unknown>)[] = [];
  readonly #ignored = new Set<string>();
  readonly #unordered = new Set<string>();
  #as: AccountName = 'openstack';

  constructor(cloud: WireCloud, service: string) {
    this.#cloud = cloud;
    this.#service = service;
  }

  /** Sends later requests as this account. */
  as(account: AccountName): void {
    this.#as = account;
  }

  /** Hides a value that differs between runs, for example a random address. */
  hide(value: string, name: string): void {
    this.#names.set(value, `<${name}>`);
  }

  /** Excludes the value of an attribute from the comparison. */
  ignore(key: string): void {
    this.#ignored.add(key);
  }

  /** Ignores the order of a list. */
  unordered(key: string): void {
    this.#unordered.add(key);
  }

  get(path: string, options?: RequestOptions): Promise<Json> {
    return this.request('GET', path, undefined, options);
  }

  /** Creates an object, and deletes it at the end, in reverse order of creation. */
  async post(path: string, body: unknown, options?: RequestOptions): Promise<Json> {
    const made = await this.request('POST', path, body, options);
    const account = this.#as;
    for (const value of Object.values((made ?? {}) as Record<string, Json>)) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (typeof each?.id !== 'string') continue;
        this.#undo.push(() => this.#send(account, 'DELETE', `${path}/${each.id}`, undefined, options));
      }
    }
    return made;
  }

  put(path: string, body?: unknown, options?: RequestOptions): Promise<Json> {
    return this.request('PUT', path, body, options);
  }

  delete(path: string, options?: RequestOptions): Promise<Json> {
    return this.request('DELETE', path, undefined, options);
  }

  /** Registers a request to send before earlier objects are deleted. Its answer is not compared. */
  undo(method: string, path: string, body?: unknown): void {
    const account = this.#as;
    this.#undo.push(() => this.#send(account, method, path, body));
  }

  async request(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<Json> {
    const answer = await this.#send(this.#as, method, path, body, options);
    const headers: Record<string, string> = {};
    for (const name of comparedHeaders) {
      const value = answer.headers[name];
      if (value !== undefined) headers[name] = this.#normalizeText(value);
    }
    const shown = body === undefined ? '' : ` ${JSON.stringify(this.#normalize(body))}`;
    this.records.push({
      request: `${this.#as}: ${method} ${this.#normalizeText(path)}${shown}`,
      status: answer.status,
      body: this.#normalize(answer.body),
      headers,
    });
    return answer.body;
  }

  /** Repeats an unrecorded request until the answer satisfies the condition. */
  async until(
    path: string,
    isDone: (body: Json, status: number) => boolean,
    options?: RequestOptions,
    account: AccountName = this.#as,
  ): Promise<Json> {
    const deadline = performance.now() + 120_000;
    for (;;) {
      const { body, status } = await this.#send(account, 'GET', path, undefined, options);
      if (isDone(body, status)) return body;
      if (performance.now() > deadline) throw new Error(`${path} stays ${status} ${JSON.stringify(body)}`);
      await delay(300);
    }
  }

  /** Deletes created objects in reverse order. */
  async cleanUp(): Promise<void> {
    for (const step of this.#undo.reverse()) await step().catch(() => {});
  }

  #send(
    as: AccountName,
    method: string,
    path: string,
    body?: unknown,
    { service = this.#service, headers }: RequestOptions = {},
  ): Promise<WireAnswer> {
    return this.#cloud.send({ as, service, method, path, body, ...(headers && { headers }) });
  }

  #normalize(value: unknown): Json {
    if (typeof value === 'string') return this.#normalizeText(value);
    if (Array.isArray(value)) return value.map((each) => this.#normalize(each));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => !this.#ignored.has(key));
    return Object.fromEntries(
      entries.map(([key, each]) => [
        this.#normalizeText(key),
        this.#normalize(this.#unordered.has(key) ? this.#inOrder(each) : each),
      ]),
    );
  }

  #normalizeText(text: string): string {
    let result = text;
    for (const [value, name] of this.#names) if (result.includes(value)) result = result.replaceAll(value, name);
    for (const url of this.#cloud.endpoints.values()) {
      const origin = url.replace(/\/v[\d.]+.*$/, '');
      if (result.includes(origin)) result = result.replaceAll(origin, '<url>');
    }
    // Python prints sets in an order that differs between processes.
    return result
      .replace(/(?<=should be one of: )[\w, -]+/, (names) => names.split(', ').sort().join(', '))
      .replace(/req-[0-9a-f-]{36}/g, '<request>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => this.#nameOf(id, 'id'))
      .replace(/\b[0-9a-f]{32}\b/g, (id) => this.#nameOf(id, 'hex'))
      .replace(/fa:16:3e(:[0-9a-f]{2}){3}/g, (mac) => this.#nameOf(mac, 'mac'))
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?/g, (time) => `<time${time.endsWith('Z') ? ' Z' : ''}>`);
  }

  /** Sorts by stable values: no times, and no ids except those already replaced by names. */
  #inOrder(list: unknown): unknown {
    if (!Array.isArray(list)) return list;
    const keyOf = (item: unknown): string =>
      JSON.stringify(item, (name, value) => {
        if (name.endsWith('_at')) return '';
        const isId = name === 'id' || (name.endsWith('_id') && value !== null);
        return isId ? (this.#names.get(String(value)) ?? '') : value;
      });
    return [...list].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  #nameOf(value: string, kind: string): string {
    if (/^[0-]+$/.test(value)) return value;
    const known = this.#names.get(value);
    if (known) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = `<${kind} ${count}>`;
    this.#names.set(value, name);
    return name;
  }
}

export interface RequestOptions {
  /** service, if it differs from the scenario's */
  readonly service?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
