import { mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Document, isMap, isSeq, parseDocument, YAMLMap, YAMLSeq } from 'yaml';
import { type Clock, errorMessage, sleep, systemClock } from '../../machinery/index.ts';
import { errnoOf, kubeconfigError } from './errors.ts';
import { parseKubeconfig } from './read.ts';
import type { KubeconfigCluster, KubeconfigUser } from './types.ts';

export interface KubeconfigEntry {
  path: string;
  /** name of the context, cluster and user */
  name: string;
  cluster: KubeconfigCluster;
  user: KubeconfigUser;
  namespace?: string;
  /** make it the current context even if another one is set; without a current context it is always set */
  setCurrent?: boolean;
  clock?: Clock;
}

/**
 * Adds or replaces a context with its cluster and user. The rest of the file is preserved, including comments. Returns
 * whether the current context changed, so that the caller can report it.
 */
export async function writeKubeconfigEntry(entry: KubeconfigEntry): Promise<{ currentContextChanged: boolean }> {
  const { path, name } = entry;
  return await edit(path, entry.clock ?? systemClock, (document) => {
    const top = document.contents as YAMLMap;
    if (!top.has('apiVersion')) top.set('apiVersion', 'v1');
    if (!top.has('kind')) top.set('kind', 'Config');
    upsert(document, { list: 'clusters', name, field: 'cluster', value: entry.cluster });
    upsert(document, { list: 'users', name, field: 'user', value: entry.user });
    upsert(document, {
      list: 'contexts',
      name,
      field: 'context',
      value: {
        cluster: name,
        user: name,
        ...(entry.namespace !== undefined && { namespace: entry.namespace }),
      },
    });
    const current = top.get('current-context');
    const unset = current === undefined || current === null || current === '';
    if (!unset && entry.setCurrent !== true) return { currentContextChanged: false };
    top.set('current-context', name);
    return { currentContextChanged: current !== name };
  });
}

/** Removes a context with its cluster and user; no error if the file or entry is missing. */
export async function removeKubeconfigEntry(options: {
  path: string;
  name: string;
  clock?: Clock;
}): Promise<{ removed: boolean }> {
  const { path, name } = options;
  try {
    await readFile(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { removed: false };
  }
  return await edit(path, options.clock ?? systemClock, (document) => {
    let removed = false;
    for (const list of ['clusters', 'users', 'contexts']) {
      const entries = document.get(list);
      if (!isSeq(entries)) continue;
      const index = indexOf(entries, name);
      if (index < 0) continue;
      entries.delete(index);
      removed = true;
    }
    if (document.get('current-context') === name) document.set('current-context', '');
    return { removed };
  });
}

function indexOf(entries: YAMLSeq, name: string): number {
  return entries.items.findIndex((item) => isMap(item) && item.get('name') === name);
}

function upsert(
  document: Document,
  { list, name, field, value }: { list: string; name: string; field: string; value: object },
): void {
  let entries = document.get(list);
  if (!isSeq(entries)) {
    entries = new YAMLSeq();
    document.set(list, entries);
  }
  const sequence = entries as YAMLSeq;
  // An empty list is usually written as `[]`; added entries should use block style.
  sequence.flow = false;
  const index = indexOf(sequence, name);
  const existing = index < 0 ? undefined : sequence.items[index];
  // Replaced completely: a stale token beside a new certificate is worse than a lost comment.
  if (isMap(existing)) existing.set(field, document.createNode(value));
  else sequence.add(document.createNode({ name, [field]: value }));
}

async function edit<R>(path: string, clock: Clock, change: (document: Document) => R): Promise<R> {
  await mkdir(dirname(path), { recursive: true });
  return await withLock(path, clock, async () => {
    const target = await resolveLink(path);
    const text = await readOrEmpty(target);
    parseKubeconfig(text, path);
    const parsed = parseDocument(text);
    const document: Document = isMap(parsed.contents) ? (parsed as Document) : new Document(new YAMLMap());
    const result = change(document);
    await replaceFile(target, document.toString({ lineWidth: 0 }));
    return result;
  });
}

async function resolveLink(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return path;
    throw error;
  }
}

async function readOrEmpty(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return '';
    throw kubeconfigError(
      'CAP_KUBECONFIG_UNREADABLE',
      `cannot read kubeconfig ${path}: ${errorMessage(error)}`,
      'check the permissions of the file',
      error,
    );
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw kubeconfigError(
      'CAP_KUBECONFIG_WRITE',
      `cannot write kubeconfig ${path}: ${errorMessage(error)}`,
      'check the permissions of the directory and the space on the disk',
      error,
    );
  }
}

const lockRetryMs = 50;
const lockPatienceMs = 5_000;

/**
 * Uses the same exclusive lock file as kubectl, `<file>.lock`. Programs hold it for milliseconds, so a lock that stays the
 * same all the time was left behind by a killed one.
 */
async function withLock<R>(path: string, clock: Clock, work: () => Promise<R>): Promise<R> {
  const lock = `${path}.lock`;
  const deadline = clock.now() + lockPatienceMs;
  const first = await identityOf(lock);
  for (;;) {
    try {
      await writeFile(lock, '', { flag: 'wx', mode: 0o600 });
      break;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') {
        throw kubeconfigError(
          'CAP_KUBECONFIG_WRITE',
          `cannot create ${lock}: ${errorMessage(error)}`,
          'check the permissions of the directory',
          error,
        );
      }
      if (clock.now() >= deadline) {
        if (first !== undefined && (await identityOf(lock)) === first) {
          await rm(lock, { force: true });
          continue;
        }
        throw kubeconfigError(
          'CAP_KUBECONFIG_LOCKED',
          `kubeconfig ${path} is being written by another program`,
          `if no such program runs, remove ${lock}`,
          error,
        );
      }
    }
    await sleep(clock, lockRetryMs);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { ino, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${mtimeNs}`;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
