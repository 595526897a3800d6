import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CapstanError } from '../machinery/index.ts';

/** Holder of a directory lock. The start time distinguishes a process from a later one with the same pid. */
interface Holder {
  id: string;
  pid: number;
  host: string;
  /** identifies the boot of the machine and the start of the process; empty if the system does not provide it */
  started: string;
}

export interface DirectoryLock {
  release(): Promise<void>;
}

export interface LockTimings {
  /** interval of the holder's heartbeat */
  heartbeatMs: number;
  /** how long a holder on another host is observed for a heartbeat before it counts as dead */
  patienceMs: number;
}

const lockFile = 'lock';
const defaultTimings: LockTimings = { heartbeatMs: 3_000, patienceMs: 10_000 };

/** Locks the directory for this process. Takes over the lock of a dead process, but not of a live one. */
export async function lockDirectory(directory: string, timings: LockTimings = defaultTimings): Promise<DirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, lockFile);
  const self: Holder = {
    id: randomUUID(),
    pid: process.pid,
    host: hostname(),
    started: (await startOf(process.pid)) ?? '',
  };
  const draft = `${path}.${self.id}`;
  await writeFile(draft, JSON.stringify(self), { flag: 'wx', mode: 0o600 });
  try {
    await acquire(directory, path, draft, timings);
  } finally {
    await rm(draft, { force: true });
  }
  return heldLock(path, self, timings);
}

/** Creates the lock at `path`. A hard link appears with its complete content, so nobody ever reads a partial lock. */
async function acquire(directory: string, path: string, draft: string, timings: LockTimings): Promise<void> {
  while (!(await tryLink(draft, path))) {
    const holder = await readHolder(path);
    if (!holder) continue;
    if (await isAlive(holder, path, timings)) throw lockedError(directory, holder);
    // Only the owner of a claim may replace a dead lock, so of several processes that find it dead only one succeeds. A
    // claim is a lock too.
    const claim = join(directory, `${lockFile}.claim.${holder.id}`);
    await acquire(directory, claim, draft, timings);
    const isStillThere = (await readHolder(path))?.id === holder.id;
    await (isStillThere ? rename(claim, path) : rm(claim));
    if (isStillThere) return;
  }
}

function lockedError(directory: string, holder: Holder): CapstanError {
  const where = holder.host === hostname() ? '' : ` on host ${holder.host}`;
  return new CapstanError('CAP_STORE_LOCKED', `the store in ${directory} is in use by process ${holder.pid}${where}`, {
    hint: 'stop that process first, or use another data directory',
  });
}

function heldLock(path: string, self: Holder, { heartbeatMs }: LockTimings): DirectoryLock {
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs);
  heartbeat.unref();
  return {
    async release() {
      clearInterval(heartbeat);
      const holder = await readHolder(path);
      if (holder?.id === self.id) await rm(path, { force: true });
    },
  };
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function isAlive(holder: Holder, path: string, { patienceMs }: LockTimings): Promise<boolean> {
  if (holder.host !== hostname()) return hasHeartbeat(path, patienceMs);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: the process is alive, under another user.
    if (!isCode(error, 'EPERM')) return false;
  }
  const started = await startOf(holder.pid);
  if (started === undefined) return false;
  return started === '' || holder.started === '' || started === holder.started;
}

/** Compares the lock file only with itself, so the clocks of the hosts do not matter. */
async function hasHeartbeat(path: string, patienceMs: number): Promise<boolean> {
  const before = await modified(path);
  for (let waited = 0; waited < patienceMs; waited += patienceMs / 10) {
    await sleep(patienceMs / 10);
    if ((await modified(path)) !== before) return true;
  }
  return false;
}

async function modified(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    if (error instanceof SyntaxError) return { id: '', pid: 0, host: '', started: '' };
    throw error;
  }
}

/**
 * Returns the start time of a process; undefined if it ended and its parent has not collected the exit code yet, which
 * a parent that is no init system may never do.
 */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const [boot, status] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The command name, in parentheses, may contain spaces. The start time is the twentieth field after it.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    // Other threads of a killed process may end later than the first one.
    const [state] = fields;
    if (state === 'Z' && Number(fields[17]) <= 1) return undefined;
    return `${boot.trim()}/${fields[19]}`;
  } catch {
    return '';
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
