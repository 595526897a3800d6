import { createHash } from 'node:crypto';

/** A key of a snapshot with the prefix of its Kubernetes cluster. */
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

/** Encodes a snapshot as text: its origin, one line per key, and a hash of all that. */
export function snapshotLines({ clusterId, revision, entries }: SnapshotContent): string {
  const lines = [
    magic,
    JSON.stringify({ clusterId, revision, keys: entries.length }),
    ...entries.map(({ prefix, key, value }) => JSON.stringify([prefix, key, value])),
  ];
  const text = `${lines.join('\n')}\n`;
  return `${text}${hashOf(text)}\n`;
}

/** Decodes a snapshot. Throws SyntaxError with etcdutl's words if it is invalid or incomplete. */
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

/** Bytes processed before the event loop gets a turn. */
const bytesAtOnce = 1024 ** 2;
/** A value has at most 1.5 MiB, and each byte takes at most six when encoded. */
const maxLineBytes = 10 * 1024 ** 2;

const newline = 10;

/**
 * Returns the keys of a simulated etcd's snapshot; undefined for other files. Throws SyntaxError if damaged. The file
 * is read by line and never becomes one string, because the user who names a backup controls its size.
 */
export async function simulatedSnapshotKeys(file: Buffer): Promise<{ key: Buffer; value: Buffer }[] | undefined> {
  if (file.subarray(0, magic.length + 1).toString('utf8') !== `${magic}\n`) return undefined;
  const end = file.lastIndexOf(newline, Math.max(file.length - 2, 0)) + 1;
  await checkHash(
    file.subarray(0, end),
    file
      .subarray(end, end + maxLineBytes)
      .toString('utf8')
      .trim(),
  );
  const keys: { key: Buffer; value: Buffer }[] = [];
  let servedAt = 0;
  // The second line contains the origin.
  let start = file.indexOf(newline, magic.length + 1) + 1;
  while (start > 0 && start < end) {
    const stop = file.indexOf(newline, start);
    if (stop - start > maxLineBytes) throw new SyntaxError('the snapshot is damaged: a key without an end');
    keys.push(keyOf(file.toString('utf8', start, stop)));
    start = stop + 1;
    if (start - servedAt > bytesAtOnce) {
      servedAt = start;
      await othersFirst();
    }
  }
  return keys;
}

function keyOf(line: string): { key: Buffer; value: Buffer } {
  const parts = JSON.parse(line) as unknown;
  if (!Array.isArray(parts) || parts.length !== 3 || parts.some((part) => typeof part !== 'string')) {
    throw new SyntaxError('the snapshot is damaged: a line that is no key');
  }
  const [prefix, key, value] = parts as [string, string, string];
  return { key: Buffer.from(prefix + key), value: Buffer.from(value) };
}

async function checkHash(body: Buffer, expected: string): Promise<void> {
  const hash = createHash('sha256');
  for (let at = 0; at < body.length; at += bytesAtOnce) {
    hash.update(body.subarray(at, at + bytesAtOnce));
    await othersFirst();
  }
  const found = hash.digest('hex');
  if (found !== expected) throw new SyntaxError(`expected sha256 [${expected.slice(0, 64)}], got [${found}]`);
}

function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
