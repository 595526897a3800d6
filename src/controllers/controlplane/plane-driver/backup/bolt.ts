import { CapstanError } from '../../../../machinery/index.ts';
import type { EtcdKey } from '../../etcd-client/types.ts';
import { messageOf, readFields } from '../../etcd-client/wire.ts';

// An etcd snapshot is a bbolt database file: a B+ tree of pages, with nested trees (buckets) in its leaves.

const magic = 0xed0cdaed;
const metaOffset = 16;
const pageHeaderBytes = 16;
const elementBytes = 16;
const branchPage = 0x01;
const leafPage = 0x02;
const bucketElement = 0x01;
const bucketHeaderBytes = 16;
/** etcd appends a checksum to the pages. */
const checksumBytes = 32;
/** bucket with all revisions */
const revisions = Buffer.from('key');
/** revision key: two 8-byte numbers with a separator; deletions have one more byte */
const revisionBytes = 17;
const revisionsAtOnce = 1_000;
/** Limit against damaged files; trees of etcd have only a few levels. */
const maxLevels = 32;

/** The file is not an etcd snapshot, or it is damaged. */
export class SnapshotError extends CapstanError {
  constructor(message: string) {
    super('CAP_ETCD_SNAPSHOT', message, { hint: 'take another backup' });
    this.name = 'SnapshotError';
  }
}

export const isBoltFile = (file: Buffer): boolean =>
  file.length >= metaOffset + 64 && file.readUInt32LE(metaOffset) === magic;

/** Returns the live keys and values in a snapshot. */
export async function keysOfSnapshot(file: Buffer): Promise<EtcdKey[]> {
  const tree = openTree(file);
  const bucket = find(tree, tree.root, revisions);
  if (!bucket) throw new SnapshotError('the snapshot has no keys in it');
  const living = new Map<string, EtcdKey>();
  // in revision order: later entries win
  let read = 0;
  for (const { key: revision, value } of bucket) {
    // yield to other work
    if (++read % revisionsAtOnce === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    const entry = readKeyValue(value);
    const name = entry.key.toString('latin1');
    living.delete(name);
    if (revision.length === revisionBytes) living.set(name, entry);
  }
  return [...living.values()];
}

interface Tree {
  readonly file: Buffer;
  readonly pageBytes: number;
  readonly root: bigint;
  /** visited pages; every page belongs to one place, so a repeated page means a cycle in a damaged file */
  readonly walked: Set<bigint>;
}

interface Element {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly isBucket: boolean;
}

function openTree(file: Buffer): Tree {
  if (!isBoltFile(file)) throw new SnapshotError('this is no snapshot of etcd');
  const pageBytes = file.readUInt32LE(metaOffset + 8);
  if (pageBytes < 512 || pageBytes > 65_536) throw new SnapshotError('the snapshot is damaged: no size of its pages');
  // of the two meta pages, the one with the higher transaction id is current
  const metas = [metaOffset, pageBytes + metaOffset]
    .filter((at) => at + 64 <= file.length && file.readUInt32LE(at) === magic)
    .map((at) => ({ root: file.readBigUInt64LE(at + 16), transaction: file.readBigUInt64LE(at + 48) }))
    .sort((a, b) => (a.transaction < b.transaction ? 1 : -1));
  const [meta] = metas;
  if (!meta) throw new SnapshotError('the snapshot is damaged: it has no beginning');
  const pages = Math.floor((file.length - checksumBytes) / pageBytes);
  if (meta.root >= BigInt(Math.max(pages, 1))) throw new SnapshotError('the snapshot is damaged: it was cut off');
  return { file, pageBytes, root: meta.root, walked: new Set() };
}

/** Finds a bucket in the root bucket. */
function find(tree: Tree, root: bigint, name: Buffer): Iterable<Element> | undefined {
  for (const element of elements(tree, root)) {
    if (!element.isBucket || !element.key.equals(name)) continue;
    const inner = element.value.readBigUInt64LE(0);
    return inner === 0n ? pageElements(element.value.subarray(bucketHeaderBytes)) : elements(tree, inner);
  }
  return undefined;
}

function* elements(tree: Tree, page: bigint, level = 0): Generator<Element> {
  if (tree.walked.has(page) || level > maxLevels)
    throw new SnapshotError('the snapshot is damaged: its pages go round');
  tree.walked.add(page);
  const start = Number(page) * tree.pageBytes;
  if (start + pageHeaderBytes > tree.file.length) throw new SnapshotError('the snapshot is damaged: it was cut off');
  const bytes = tree.file.subarray(start);
  if ((bytes.readUInt16LE(8) & branchPage) === 0) {
    yield* pageElements(bytes);
    return;
  }
  const count = bytes.readUInt16LE(10);
  for (let index = 0; index < count; index++) {
    yield* elements(tree, bytes.readBigUInt64LE(pageHeaderBytes + index * elementBytes + 8), level + 1);
  }
}

/** Yields the entries of a leaf page, which may have overflow pages. */
function* pageElements(bytes: Buffer): Generator<Element> {
  if ((bytes.readUInt16LE(8) & leafPage) === 0)
    throw new SnapshotError('the snapshot is damaged: a page of another kind');
  const count = bytes.readUInt16LE(10);
  for (let index = 0; index < count; index++) {
    const at = pageHeaderBytes + index * elementBytes;
    const flags = bytes.readUInt32LE(at);
    const keyStart = at + bytes.readUInt32LE(at + 4);
    const valueStart = keyStart + bytes.readUInt32LE(at + 8);
    const end = valueStart + bytes.readUInt32LE(at + 12);
    if (end > bytes.length) throw new SnapshotError('the snapshot is damaged: it was cut off');
    yield {
      key: bytes.subarray(keyStart, valueStart),
      value: bytes.subarray(valueStart, end),
      isBucket: (flags & bucketElement) !== 0,
    };
  }
}

function readKeyValue(message: Buffer): EtcdKey {
  const entry = { key: Buffer.alloc(0) as Buffer, value: Buffer.alloc(0) as Buffer };
  for (const field of readFields(message)) {
    if (field.number === 1) entry.key = messageOf(field);
    else if (field.number === 5) entry.value = messageOf(field);
  }
  return entry;
}
