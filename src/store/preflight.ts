import { spawn } from 'node:child_process';
import { access, open, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { dataFileNames } from './lmdb-files.ts';

/**
 * LMDB trusts its file, and a damaged page can crash the process. Therefore a start creates a mark file while it reads.
 * A start that finds the mark of an interrupted one first reads in a child process.
 */
const markFile = 'reading';

/** Magic number in the header of LMDB's first page. */
const magic = 0xbeefc0de;
const magicOffset = 24;

const readEverything = `
const [, lmdb, path] = process.argv;
const options = { encoding: 'binary', keyEncoding: 'binary' };
const { ABORT, open } = require(lmdb);
const root = open({ path, noSubdir: false, maxDbs: 4, overlappingSync: false, ...options });
for (const name of ['objects', 'meta']) {
  const database = root.openDB(name, options);
  for (const { value } of database.getRange({})) value[value.length - 1];
  root.transactionSync(() => {
    database.put(Buffer.from('x'), Buffer.alloc(100000));
    return ABORT;
  });
}
`;

/** Returns why the files are unreadable, or undefined if they are readable. */
export async function whyUnreadable(directory: string): Promise<string | undefined> {
  if (!(await hasMagic(join(directory, dataFileNames.data)))) return 'its data file is not a database';
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  const child = spawn(process.execPath, ['-e', readEverything, lmdb, directory], { stdio: 'ignore' });
  const died = await new Promise<boolean>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code !== 0));
  });
  return died ? 'its data file cannot be read to the end' : undefined;
}

/** The same for a start. It is cheap unless something is suspicious. */
export async function whyUnreadableAtStart(directory: string): Promise<string | undefined> {
  const dataFile = join(directory, dataFileNames.data);
  if (!(await hasMagic(dataFile))) return 'its data file is not a database';
  const wasInterrupted = await access(join(directory, markFile)).then(
    () => true,
    () => false,
  );
  return wasInterrupted || (await looksCutShort(dataFile)) ? whyUnreadable(directory) : undefined;
}

export async function markReading(directory: string): Promise<void> {
  await writeFile(join(directory, markFile), '', { mode: 0o600 });
}

export async function unmarkReading(directory: string): Promise<void> {
  await rm(join(directory, markFile), { force: true });
}

/** Offsets of the page size and of the last used page in LMDB's two meta pages. */
const pageSizeOffset = 48;
const lastPageOffset = 144;
const metaBytes = lastPageOffset + 8;

/**
 * Reports whether the file ends before the last page it refers to. Reading such a page crashes the process. LMDB may
 * legally leave its last pages unwritten, so this only triggers a careful check.
 */
async function looksCutShort(path: string): Promise<boolean> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch {
    return false;
  }
  try {
    const { size } = await file.stat();
    const first = Buffer.alloc(metaBytes);
    if (size === 0) return false;
    if ((await file.read(first, 0, metaBytes, 0)).bytesRead < metaBytes) return true;
    const pageSize = first.readUInt32LE(pageSizeOffset);
    if (size < 2 * pageSize) return true;
    const second = Buffer.alloc(metaBytes);
    await file.read(second, 0, metaBytes, pageSize);
    return [first, second].some((meta) => size < (Number(meta.readBigUInt64LE(lastPageOffset)) + 1) * pageSize);
  } finally {
    await file.close();
  }
}

/** Also true for a missing or empty file, which becomes a new database. */
async function hasMagic(path: string): Promise<boolean> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(magicOffset + 4), 0, magicOffset + 4, 0);
    return bytesRead === 0 || (bytesRead === buffer.length && buffer.readUInt32LE(magicOffset) === magic);
  } finally {
    await file.close();
  }
}
