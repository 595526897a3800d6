import { openTls } from '../../support/rough/raw.ts';
import type { Endpoint } from '../../support/rough/wire.ts';
import { http1Client, type JsonAnswer, sendJson, type WireClient } from '../../support/rough/wire.ts';

/** Keeps a copy of a collection by watching it across crashes, as an informer does. */
export class Follower {
  readonly #collection: string;
  readonly #copy = new Map<string, number>();
  #revision = 0;
  #watching: Promise<void> | undefined;
  /** how often the place in the history was gone */
  expired = 0;
  /** how often the watch went on where it had been */
  resumed = 0;
  readonly problems: string[] = [];

  constructor(collection: string) {
    this.#collection = collection;
  }

  /** Connects again: by the last revision seen, or from a new list when that is gone. */
  async connect(endpoint: Endpoint): Promise<void> {
    await this.#watching;
    const client = http1Client(endpoint);
    if (this.#revision === 0) await this.#list(client);
    // The server may be killed while we connect.
    this.#watching = this.#watch(endpoint, client)
      .catch(() => {})
      .finally(() => client.close());
  }

  /** Waits for the end of the watch that the crash brought. */
  async disconnected(): Promise<void> {
    await this.#watching;
  }

  /** What the copy holds, by name. */
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
      // the server is gone already; the next connection starts with a list
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
