/**
 * The program that gets killed. It opens the store in a directory, prints its contents, and then writes under load
 * forever. It prints each write when it is staged and again when it is acknowledged. Output is synchronous, so a SIGKILL
 * loses no printed line.
 *
 *   found REVISION KEY CREATE_REVISION VALUE_ID   per record
 *   opened REVISION
 *   staged REVISION KEY VALUE_ID|-                "-" is a delete
 *   acked REVISION
 */
import { writeSync } from 'node:fs';
import { seededRandom } from '../../../src/machinery/index.ts';
import { lmdbEngine, openStore, type Store, type ValueCodec } from '../../../src/store/index.ts';

const [directory, seed, mode] = process.argv.slice(2) as [string, string, 'write' | 'read'];
const concurrency = 32;
const keys = 200;

/** Builds a value from its id and filler derived from it, so that mixed-up bytes are detected. */
function makeValue(id: string, size: number): string {
  return id.padEnd(id.length + size, `${id};`);
}

const codec: ValueCodec<string> = {
  encode: (_key, value) => Buffer.from(value),
  decode: (_key, bytes) => Buffer.from(bytes).toString(),
};

function idOf(value: string): string {
  const id = value.slice(0, value.indexOf('#') + 1);
  if (makeValue(id, value.length - id.length) !== value) throw new Error(`the value of ${id} is not what was written`);
  return id;
}

function print(line: string): void {
  writeSync(1, `${line}\n`);
}

const store: Store<string> = await openStore({ engine: await lmdbEngine({ directory }), codec });
for (const { key, value, revision, createRevision } of store.list('').records) {
  print(`found ${revision} ${key} ${createRevision} ${idOf(value)}`);
}
print(`opened ${store.revision}`);

if (mode === 'read') {
  await store.close();
} else {
  const random = seededRandom(Number(seed));
  let staged = store.revision;
  let sequence = 0;
  const writeForever = async (): Promise<void> => {
    for (;;) {
      const key = `/g/things/ns-${Math.floor(random.next() * 5)}/thing-${Math.floor(random.next() * keys)}`;
      const head = store.head(key);
      let write: Promise<{ revision: number }>;
      if (head && random.next() < 0.3) {
        write = store.delete(key, { kind: 'revision', revision: head.revision });
        print(`staged ${++staged} ${key} -`);
      } else {
        const id = `${seed}-${sequence++}#`;
        const size = Math.floor(random.next() ** 3 * 20_000);
        const precondition = head
          ? ({ kind: 'revision', revision: head.revision } as const)
          : ({ kind: 'absent' } as const);
        write = store.put(key, precondition, () => makeValue(id, size));
        print(`staged ${++staged} ${key} ${id}`);
      }
      print(`acked ${(await write).revision}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, writeForever));
}
