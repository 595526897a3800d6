import { createHash } from 'node:crypto';

/** A key of a snapshot with the prefix of the Kubernetes cluster it belongs to. */
export interface SnapshotEntry {
  readonly prefix: string;
  readonly key: string;
  readonly value: string;
}

export interface SnapshotContent {
  readonly clusterId: string;
  readonly revision: number;
  readonly entries: readonly SnapshotEntry[];
}

const magic = 'CAPSTAN-SIMULATED-ETCD-SNAPSHOT 1';

/** A snapshot as text: who made it, one line per key, and at last the hash of all that. */
export function snapshotLines({ clusterId, revision, entries }: SnapshotContent): string {
  const lines = [
    magic,
    JSON.stringify({ clusterId, revision, keys: entries.length }),
    ...entries.map(({ prefix, key, value }) => JSON.stringify([prefix, key, value])),
  ];
  const text = `${lines.join('\n')}\n`;
  return `${text}${hashOf(text)}\n`;
}

/** Throws SyntaxError in the words of etcdutl when it is none, or not whole. */
export function readSnapshot(text: string): SnapshotContent {
  if (!text.startsWith(`${magic}\n`)) throw new SyntaxError('snapshot missing hash but --skip-hash-check=false');
  const end = text.lastIndexOf('\n', text.length - 2) + 1;
  const body = text.slice(0, end);
  const expected = text.slice(end).trim();
  if (hashOf(body) !== expected) {
    throw new SyntaxError(`expected sha256 [${expected}], got [${hashOf(body)}]`);
  }
  const [, head = '{}', ...lines] = body.trimEnd().split('\n');
  const { clusterId, revision } = JSON.parse(head) as { clusterId: string; revision: number };
  const entries = lines.map((line) => {
    const [prefix, key, value] = JSON.parse(line) as [string, string, string];
    return { prefix, key, value };
  });
  return { clusterId, revision, entries };
}

/** The keys in a snapshot of a simulated etcd; undefined when it is something else, SyntaxError when it is damaged. */
export function simulatedSnapshotKeys(file: Buffer): { key: Buffer; value: Buffer }[] | undefined {
  if (file.subarray(0, magic.length).toString('utf8') !== magic) return undefined;
  return readSnapshot(file.toString('utf8')).entries.map(({ prefix, key, value }) => ({
    key: Buffer.from(prefix + key),
    value: Buffer.from(value),
  }));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
