import type { Duplex } from 'node:stream';
import type { Client } from '../../src/client/index.ts';
import type { KubeObject, Random, Resource } from '../../src/machinery/index.ts';
import type { Transport } from '../../src/openstack/index.ts';

/** When a process ends relative to its call. */
type Death = 'before' | 'after';

/**
 * One life of a process. All its calls go through here. After its end no pending call is answered and no further one is
 * executed, as if it had been killed between any two steps.
 */
export class Life {
  #dead = false;
  #calls = 0;
  #deathAt = Number.POSITIVE_INFINITY;
  #death: Death = 'before';
  readonly #onDeath: () => void;
  readonly #streams = new Set<Duplex>();
  /** counts calls, to detect when everything is idle */
  readonly #activity: { count: number };

  constructor(activity: { count: number }, onDeath: () => void) {
    this.#activity = activity;
    this.#onDeath = onDeath;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** Ends the process at one of the next calls. */
  dieSoon(random: Random, within: number): void {
    this.#deathAt = this.#calls + 1 + Math.floor(random.next() * within);
    this.#death = random.next() < 0.5 ? 'before' : 'after';
  }

  kill(): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const stream of this.#streams) stream.destroy();
    this.#onDeath();
  }

  async call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    this.#activity.count++;
    const isLast = ++this.#calls >= this.#deathAt;
    if (isLast && this.#death === 'before') {
      this.kill();
      return never();
    }
    try {
      const result = await work();
      if (isLast) this.kill();
      return this.#dead ? await never() : result;
    } catch (error) {
      if (this.#dead) return never();
      throw error;
    } finally {
      this.#activity.count++;
    }
  }

  async *stream<T>(items: AsyncIterable<T>): AsyncIterable<T> {
    for await (const item of items) {
      if (this.#dead) await never();
      this.#activity.count++;
      yield item;
    }
    if (this.#dead) await never();
  }

  client(client: Client): Client {
    const through =
      <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        this.call(() => method(...args));
    return {
      get: through(client.get.bind(client)) as Client['get'],
      list: through(client.list.bind(client)) as Client['list'],
      create: through(client.create.bind(client)) as Client['create'],
      update: through(client.update.bind(client)) as Client['update'],
      patch: through(client.patch.bind(client)) as Client['patch'],
      apply: through(client.apply.bind(client)) as Client['apply'],
      delete: through(client.delete.bind(client)) as Client['delete'],
      deleteCollection: through(client.deleteCollection.bind(client)) as Client['deleteCollection'],
      createSubresource: through(client.createSubresource.bind(client)) as Client['createSubresource'],
      watch: <T extends KubeObject>(resource: Resource<T>, options?: Parameters<Client['watch']>[1]) =>
        this.stream(client.watch(resource, options)),
    };
  }

  transport(transport: Transport): Transport {
    return (request) => this.call(() => transport(request));
  }

  duplex(stream: Duplex): Duplex {
    this.#streams.add(stream);
    stream.on('data', () => {
      this.#activity.count++;
    });
    stream.pause();
    stream.once('close', () => this.#streams.delete(stream));
    if (this.#dead) stream.destroy();
    return stream;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
