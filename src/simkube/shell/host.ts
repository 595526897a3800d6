import type { Random } from '../../machinery/index.ts';
import type { ShellPace } from './limits.ts';
import type { Tool } from './state.ts';

/** File system of a shell, with directories and modes. */
export interface ShellDisk {
  read(path: string): string | undefined;
  write(path: string, content: string, mode?: number): void;
  remove(path: string): void;
  /** paths with the prefix, sorted */
  list(prefix: string): string[];
  mode(path: string): number | undefined;
  changeMode(path: string, mode: number): void;
  makeDirectory(path: string): void;
  /** true if it was created, or contains something */
  isDirectory(path: string): boolean;
  /** Removes a file, or a directory with its content. Returns whether anything existed. */
  removeTree(path: string): boolean;
}

/** Environment of a shell: a machine, or a container of a Pod. */
export interface ShellHost {
  readonly disk: ShellDisk;
  readonly hostname: string;
  readonly random: Random;
  /** aborted when the machine or container stops */
  readonly signal: AbortSignal;
  /** factor by which sleeps take longer */
  readonly timeScale: number;
  /** divides CPU time between all busy scripts of the process */
  readonly pace: ShellPace;
  now(): number;
  /** waits; rejects when everything stops */
  pass(ms: number): Promise<void>;
  /** addresses of a name; absent: this host knows no names */
  resolve?(name: string): readonly string[];
  /** a command specific to this host, besides the common ones */
  command(name: string): Tool | undefined;
}

/** Normalizes an absolute path. `/var/run` is the same as `/run`. */
export function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  if (parts[0] === 'var' && parts[1] === 'run') parts.shift();
  return `/${parts.join('/')}`;
}
