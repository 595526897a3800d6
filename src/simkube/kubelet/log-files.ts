import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { appendFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatMicroTime, must, parseRfc3339 } from '../../machinery/index.ts';
import type { LogLine, RunningContainer } from '../containers/types.ts';

/** Container logs on disk. They survive a restart of the host and are deleted with the Pod. */
export interface LogFiles {
  /** records the log of a run */
  keep(run: LoggedRun, container: RunningContainer): void;
  /** the log of a run, by default the last; undefined if it is unknown */
  read(run: Omit<LoggedRun, 'restart'> & { readonly restart?: number }): readonly LogLine[] | undefined;
  /** deletes the logs of a Pod */
  forget(uid: string): void;
  /** deletes the logs of all other Pods */
  keepOnly(uids: ReadonlySet<string>): void;
  /** resolves when everything is written */
  settled(): Promise<void>;
}

export interface LoggedRun {
  /** of the Pod */
  readonly uid: string;
  readonly container: string;
  /** number of the run */
  readonly restart: number;
}

/** Size at which a file is rewritten with its newest lines. */
const maxBytes = 128 * 1024;
/** Number of runs whose logs are kept: the last one and its predecessor. */
const runsKept = 2;

export function logFiles(directory: string): LogFiles {
  const writing = new Map<string, Promise<void>>();
  const gone = new Set<string>();
  const placeOf = (uid: string): string => join(directory, uid);
  const fileOf = ({ uid, container, restart }: LoggedRun): string => join(placeOf(uid), `${container}.${restart}.log`);

  /** Serializes writes per file. Write errors are ignored, because they only affect readers of old logs. */
  const write = (file: string, work: () => Promise<unknown>): void => {
    const before = writing.get(file) ?? Promise.resolve();
    const now = before.then(work).then(
      () => {},
      () => {},
    );
    writing.set(file, now);
    void now.then(() => {
      if (writing.get(file) === now) writing.delete(file);
    });
  };

  const keep = (run: LoggedRun, container: RunningContainer): void => {
    const file = fileOf(run);
    try {
      mkdirSync(placeOf(run.uid), { recursive: true, mode: 0o700 });
      const obsolete = fileOf({ ...run, restart: run.restart - runsKept });
      rmSync(obsolete, { force: true });
    } catch {
      return;
    }
    let pending: LogLine[] = [...container.logs()];
    let size = 0;
    const flush = (): void => {
      write(file, async () => {
        const lines = pending;
        pending = [];
        if (lines.length === 0 || gone.has(run.uid)) return;
        const text = lines.map(format).join('');
        size += text.length;
        if (size <= maxBytes) return appendFile(file, text, { mode: 0o600 });
        const latest = latestOf(container.logs());
        size = latest.length;
        await writeFile(`${file}.tmp`, latest, { mode: 0o600 });
        return rename(`${file}.tmp`, file);
      });
    };
    flush();
    container.onLine((line) => {
      pending.push(line);
      // Lines that arrive together are written together.
      if (pending.length === 1) flush();
    });
  };

  return {
    keep,
    read({ uid, container, restart }) {
      try {
        const number = restart ?? lastRun(readdirSync(placeOf(uid)), container);
        if (number === undefined) return undefined;
        return parseLines(readFileSync(fileOf({ uid, container, restart: number }), 'utf8'));
      } catch {
        return undefined;
      }
    },
    forget(uid) {
      gone.add(uid);
      const pending = [...writing].filter(([file]) => file.startsWith(placeOf(uid))).map(([, work]) => work);
      write(placeOf(uid), async () => {
        await Promise.all(pending);
        await rm(placeOf(uid), { recursive: true, force: true });
        gone.delete(uid);
      });
    },
    keepOnly(uids) {
      let present: string[] = [];
      try {
        present = readdirSync(directory);
      } catch {
        // The directory does not exist yet.
      }
      for (const uid of present) if (!uids.has(uid)) this.forget(uid);
    },
    async settled() {
      while (writing.size > 0) await Promise.all(writing.values());
    },
  };
}

function lastRun(files: readonly string[], container: string): number | undefined {
  const numbers = files.flatMap((name) => {
    const [, owner, number] = /^(.*)\.(\d+)\.log$/.exec(name) ?? [];
    return owner === container ? [Number(number)] : [];
  });
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

function format({ at, text }: LogLine): string {
  return `${formatMicroTime(at)} ${text}\n`;
}

/** Returns the newest lines that fit in half a file. */
function latestOf(lines: readonly LogLine[]): string {
  const kept: string[] = [];
  let size = 0;
  for (let index = lines.length - 1; index >= 0 && size < maxBytes / 2; index--) {
    const line = format(must(lines[index], 'lines[index]'));
    size += line.length;
    kept.push(line);
  }
  return kept.reverse().join('');
}

function parseLines(text: string): LogLine[] {
  return text.split('\n').flatMap((line) => {
    const space = line.indexOf(' ');
    const at = space < 0 ? undefined : parseRfc3339(line.slice(0, space));
    return at === undefined || Number.isNaN(at) ? [] : [{ at, text: line.slice(space + 1) }];
  });
}
