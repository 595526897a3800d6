import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** path -> text */
export type Tree = Readonly<Record<string, string>>;

export interface Outcome {
  status: number | null;
  /** lines of its complaints */
  lines: string[];
}

/** Runs a script of this directory on a temporary tree of files; with `git`, as a repository. */
export function runOn(tree: Tree, script: string, { git = false }: { git?: boolean } = {}): Outcome {
  const root = mkdtempSync(join(tmpdir(), 'capstan-check-'));
  try {
    for (const [path, text] of Object.entries(tree)) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    // Removes the git environment of the caller, for example of a hook.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
    const run = (program: string, ...args: string[]) => spawnSync(program, args, { cwd: root, env, encoding: 'utf8' });
    const made = git ? run('git', 'init', '--quiet') : undefined;
    if (made && made.status !== 0) throw new Error(`git init: ${made.stderr || made.error}`);
    const { status, stderr } = run(process.execPath, fileURLToPath(new URL(`../${script}`, import.meta.url)));
    return { status, lines: stderr.split('\n').filter((line) => line !== '') };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
