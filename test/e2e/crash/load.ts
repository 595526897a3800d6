import type { Dice } from '../../support/rough/dice.ts';
import { type JsonAnswer, sendJson, type WireClient } from '../../support/rough/wire.ts';

/** Known state of an object. */
interface Known {
  /** value and revision of the newest acknowledged state; undefined if it is gone */
  present: { value: string; resourceVersion: number; terminating: boolean } | undefined;
  /** possible outcomes of a request without an answer; it may also have had no effect */
  doubtful: Doubt | undefined;
}

type Doubt = { kind: 'written'; value: string } | { kind: 'gone' } | { kind: 'terminating' };

type Kind = 'configmaps' | 'secrets' | 'applied' | 'held';

const finalizer = 'example.com/hold';

/** A client that writes its own objects, one request at a time, and records the answers. */
export class Writer {
  readonly #id: string;
  readonly #namespace: string;
  readonly #dice: Dice;
  readonly #known = new Map<string, Known>();
  #counter = 0;
  /** number of acknowledged writes */
  acknowledged = 0;
  highest = 0;

  constructor(id: string, namespace: string, dice: Dice) {
    this.#id = id;
    this.#namespace = namespace;
    this.#dice = dice;
  }

  /** Writes until the connection breaks or it is stopped. */
  async run(client: WireClient, stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      try {
        await this.#step(client);
      } catch (error) {
        if (error instanceof WrongAnswer) throw error;
        return;
      }
    }
  }

  async #step(client: WireClient): Promise<void> {
    const kind = this.#dice.pick<Kind>(['configmaps', 'configmaps', 'secrets', 'applied', 'held']);
    const name = `${kind}-${this.#id}-${this.#dice.between(1, 4)}`;
    const known = this.#known.get(name) ?? { present: undefined, doubtful: undefined };
    this.#known.set(name, known);
    // Uncertain objects are left alone until `check` resolves them after the restart.
    if (known.doubtful) return;
    const value = `${this.#id}-${++this.#counter}`;
    if (known.present?.terminating) return this.#release(client, name, known);
    if (known.present && this.#dice.chance(0.25)) return this.#delete(client, kind, name, known);
    return this.#write(client, kind, name, value, known);
  }

  async #write(client: WireClient, kind: Kind, name: string, value: string, known: Known): Promise<void> {
    const { present } = known;
    known.doubtful = { kind: 'written', value };
    const collection = this.#collection(kind);
    const object = this.#object(kind, name, value);
    const send = (): ReturnType<typeof sendJson> => {
      if (kind === 'applied') {
        return sendJson(client, 'PATCH', `${collection}/${name}?fieldManager=crash&force=true`, object, [
          ['content-type', 'application/apply-patch+yaml'],
        ]);
      }
      if (!present) return sendJson(client, 'POST', collection, object);
      object['metadata']['resourceVersion'] = String(present.resourceVersion);
      return sendJson(client, 'PUT', `${collection}/${name}`, object);
    };
    const answer = await send();
    if (answer.status !== 200 && answer.status !== 201) throw wrong(`${kind} ${name}`, answer);
    this.#acknowledge(known, answer.value, value);
  }

  async #delete(client: WireClient, kind: Kind, name: string, known: Known): Promise<void> {
    known.doubtful = kind === 'held' ? { kind: 'terminating' } : { kind: 'gone' };
    const answer = await sendJson(client, 'DELETE', `${this.#collection(kind)}/${name}`);
    if (answer.status !== 200) throw wrong(`delete ${name}`, answer);
    if (kind === 'held') {
      known.present!.terminating = true;
      this.#acknowledge(known, answer.value, known.present!.value);
      return;
    }
    this.acknowledged++;
    known.present = undefined;
    known.doubtful = undefined;
  }

  /** Removes the finalizer, which completes the deletion. */
  async #release(client: WireClient, name: string, known: Known): Promise<void> {
    known.doubtful = { kind: 'gone' };
    const patch = { metadata: { finalizers: null } };
    const answer = await sendJson(client, 'PATCH', `${this.#collection('held')}/${name}`, patch, [
      ['content-type', 'application/merge-patch+json'],
    ]);
    if (answer.status !== 200) throw wrong(`release ${name}`, answer);
    this.acknowledged++;
    known.present = undefined;
    known.doubtful = undefined;
  }

  #acknowledge(known: Known, object: JsonAnswer, value: string): void {
    const resourceVersion = Number(object.metadata.resourceVersion);
    if (!(resourceVersion > (known.present?.resourceVersion ?? 0))) {
      throw new WrongAnswer(`${object.metadata.name}: revision ${resourceVersion} does not follow the one before`);
    }
    known.present = { value, resourceVersion, terminating: object.metadata.deletionTimestamp !== undefined };
    known.doubtful = undefined;
    this.acknowledged++;
    this.highest = Math.max(this.highest, resourceVersion);
  }

  #collection(kind: Kind): string {
    return `/api/v1/namespaces/${this.#namespace}/${kind === 'secrets' ? 'secrets' : 'configmaps'}`;
  }

  #object(kind: Kind, name: string, value: string): JsonAnswer {
    const secret = kind === 'secrets';
    return {
      apiVersion: 'v1',
      kind: secret ? 'Secret' : 'ConfigMap',
      metadata: { name, ...(kind === 'held' && { finalizers: [finalizer] }) },
      data: { value: secret ? Buffer.from(value).toString('base64') : value },
    };
  }

  /** Compares the store with the acknowledged state. Returns contradictions and resolves uncertain objects. */
  check(stored: ReadonlyMap<string, JsonAnswer>): string[] {
    const problems: string[] = [];
    for (const [name, known] of this.#known) {
      const object = stored.get(name);
      const problem = contradiction(known, object);
      if (problem) problems.push(`${name}: ${problem}`);
      known.doubtful = undefined;
      known.present = object && {
        value: storedValue(object),
        resourceVersion: Number(object.metadata.resourceVersion),
        terminating: object.metadata.deletionTimestamp !== undefined,
      };
    }
    return problems;
  }
}

export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

function wrong(what: string, answer: { status: number; value: JsonAnswer }): WrongAnswer {
  return new WrongAnswer(`${what}: ${answer.status} ${JSON.stringify(answer.value).slice(0, 300)}`);
}

function storedValue(object: JsonAnswer): string {
  const value = String(object.data.value);
  return object.kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value;
}

function contradiction({ present, doubtful }: Known, object: JsonAnswer | undefined): string | undefined {
  const asAcknowledged = present
    ? object !== undefined &&
      Number(object.metadata.resourceVersion) === present.resourceVersion &&
      storedValue(object) === present.value
    : object === undefined;
  if (asAcknowledged) return undefined;
  switch (doubtful?.kind) {
    case 'written':
      if (object && storedValue(object) === doubtful.value) return undefined;
      break;
    case 'gone':
      if (!object) return undefined;
      break;
    case 'terminating':
      if (object?.metadata.deletionTimestamp !== undefined && storedValue(object) === present?.value) return undefined;
  }
  const found = object ? `${storedValue(object)} at ${object.metadata.resourceVersion}` : 'nothing';
  const wanted = present ? `${present.value} at ${present.resourceVersion}` : 'nothing';
  return `acknowledged ${wanted}, found ${found}, last unanswered request ${JSON.stringify(doubtful ?? 'none')}`;
}
