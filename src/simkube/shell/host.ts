import type { Random } from '../../machinery/index.ts';
import type { ShellPace } from './limits.ts';
import type { Tool } from './state.ts';

/** Files as a shell needs them: with directories and modes. */
export interface ShellDisk {
  read(path: string): string | undefined;
  write(path: string, content: string, mode?: number): void;
  remove(path: string): void;
  /** paths that begin with the prefix, sorted */
  list(prefix: string): string[];
  mode(path: string): number | undefined;
  changeMode(path: string, mode: number): void;
  makeDirectory(path: string): void;
  /** whether it was made, or has something in it */
  isDirectory(path: string): boolean;
  /** Removes a file, or a directory with everything in it; says whether there was anything. */
  removeTree(path: string): boolean;
}

/** What a shell runs on: a machine, or a container of a Pod. */
export interface ShellHost {
  readonly disk: ShellDisk;
  readonly hostname: string;
  readonly random: Random;
  /** aborted when everything on it ends */
  readonly signal: AbortSignal;
  /** how much longer than it says a sleep takes */
  readonly timeScale: number;
  /** how busy scripts of everybody share the process */
  readonly pace: ShellPace;
  now(): number;
  /** waits; rejects when everything ends */
  pass(ms: number): Promise<void>;
  /** a command this host has besides those that every image has */
  command(name: string): Tool | undefined;
}

/** An absolute path without detours; `/var/run` is the same as `/run`. */
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
