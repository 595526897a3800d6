interface Staged {
  key: string;
  /** undefined for a delete */
  id: string | undefined;
}

interface Expected {
  revision: number;
  createRevision: number;
  id: string;
}

/**
 * Expected contents of the store after a crash, derived from the output of the killed processes: exactly the writes up
 * to some revision, which is not older than any acknowledged write.
 */
export class CrashModel {
  readonly #state = new Map<string, Expected>();
  #revision = 0;
  #staged = new Map<number, Staged>();
  #acked = 0;
  #found = new Map<string, Expected>();
  /** total number of acknowledged writes */
  acknowledged = 0;

  /** Processes one line of a writer's output. Throws if the store it found is impossible. */
  take(line: string): void {
    const [kind, revisionText, key = '', third = '', fourth = ''] = line.split(' ');
    const revision = Number(revisionText);
    switch (kind) {
      case 'found':
        this.#found.set(key, { revision, createRevision: Number(third), id: fourth });
        return;
      case 'opened':
        this.#checkOpened(revision);
        return;
      case 'staged':
        this.#staged.set(revision, { key, id: third === '-' ? undefined : third });
        return;
      case 'acked':
        this.acknowledged++;
        this.#acked = Math.max(this.#acked, revision);
        return;
      default:
        throw new Error(`unexpected output: ${line}`);
    }
  }

  /** A new process starts. */
  restart(): void {
    this.#found = new Map();
  }

  #checkOpened(revision: number): void {
    if (revision < this.#acked)
      throw new Error(`revision ${this.#acked} was acknowledged, the store is at ${revision}`);
    for (let next = this.#revision + 1; next <= revision; next++) {
      const write = this.#staged.get(next);
      if (!write) throw new Error(`the store is at ${revision}, but ${next} was never written`);
      this.#apply(next, write);
    }
    this.#revision = revision;
    // Lost writes never happened, and their revisions are free again.
    this.#staged = new Map();
    this.#compare();
  }

  #apply(revision: number, { key, id }: Staged): void {
    if (id === undefined) this.#state.delete(key);
    else this.#state.set(key, { revision, id, createRevision: this.#state.get(key)?.createRevision ?? revision });
  }

  #compare(): void {
    for (const [key, expected] of this.#state) {
      const found = this.#found.get(key);
      if (JSON.stringify(found && sorted(found)) !== JSON.stringify(sorted(expected))) {
        throw new Error(`${key} should be ${JSON.stringify(expected)}, is ${JSON.stringify(found)}`);
      }
    }
    for (const key of this.#found.keys()) {
      if (!this.#state.has(key)) throw new Error(`${key} should not exist`);
    }
  }
}

function sorted({ revision, createRevision, id }: Expected): Expected {
  return { revision, createRevision, id };
}
