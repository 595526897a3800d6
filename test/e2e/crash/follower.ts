import { openTls } from '../../support/rough/raw.ts';
import type { Endpoint } from '../../support/rough/wire.ts';
import { http1Client, type JsonAnswer, sendJson, type WireClient } from '../../support/rough/wire.ts';

/** Maintains a copy of a collection by watching it across crashes, like an informer. */
export class Follower {
  readonly #collection: string;
  readonly #copy = new Map<string, number>();
  #revision = 0;
  #watching: Promise<void> | undefined;
  /** number of times the revision was expired */
  expired = 0;
  /** number of times the watch resumed at its revision */
  resumed = 0;
  readonly problems: string[] = [];

  constructor(collection: string) {
    this.#collection = collection;
  }

  /** Connects again: from the last seen revision, or with a new list if it is expired. */
  async connect(endpoint: Endpoint): Promise<void> {
    await this.#watching;
    const client = http1Client(endpoint);
    if (this.#revision === 0) await this.#list(client);
    // The server may be killed during the connection.
    this.#watching = this.#watch(endpoint, client)
      .catch(() => {})
      .finally(() => client.close());
  }

  /** Waits until the crash has ended the watch. */
  async disconnected(): Promise<void> {
    await this.#watching;
  }

  /** The copy: revisions by name. */
  get copy(): ReadonlyMap<string, number> {
    return this.#copy;
  }

  get revision(): number {
    return this.#revision;
  }

  async #list(client: WireClient): Promise<void> {
    const { value } = await sendJson(client, 'GET', this.#collection);
    this.#copy.clear();
    for (const item of value.items) this.#copy.set(item.metadata.name, Number(item.metadata.resourceVersion));
    this.#revision = Number(value.metadata.resourceVersion);
  }

  async #watch(endpoint: Endpoint, client: WireClient): Promise<void> {
    const socket = await openTls(endpoint);
    const path = `${this.#collection}?watch=true&allowWatchBookmarks=true&resourceVersion=${this.#revision}`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    let text = '';
    let expired = false;
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
        const lines = text.split('\n');
        text = lines.pop()!;
        for (const line of lines) {
          if (!line.startsWith('{"type"')) continue;
          expired ||= this.#onEvent(JSON.parse(line) as JsonAnswer) === 'expired';
        }
        if (expired) socket.destroy();
      });
    });
    if (!expired) return;
    this.expired++;
    try {
      await this.#list(client);
    } catch {
      // The server is already gone. The next connection starts with a list.
      this.#revision = 0;
      return;
    }
    await this.#watch(endpoint, client);
  }

  #onEvent({ type, object }: JsonAnswer): 'expired' | undefined {
    if (type === 'ERROR') {
      if (object.code !== 410) this.problems.push(`watch error ${JSON.stringify(object)}`);
      return 'expired';
    }
    const revision = Number(object.metadata.resourceVersion);
    if (revision <= this.#revision && type !== 'BOOKMARK') {
      this.problems.push(`${type} ${object.metadata.name} at ${revision} came after ${this.#revision}`);
    }
    this.resumed++;
    this.#revision = Math.max(this.#revision, revision);
    const name = String(object.metadata.name ?? '');
    if (type === 'DELETED') this.#copy.delete(name);
    else if (type !== 'BOOKMARK') this.#copy.set(name, revision);
    return undefined;
  }
}
