import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** Set in a benchmark that runs as a bundle, to the directory of the project. */
const shippedMark = 'CAPSTAN_BENCH_PROJECT';

export const projectRoot: string =
  process.env[shippedMark] ?? resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Returns the node arguments of the shipped program, from the first line of the command. */
export function shippedNodeArguments(): string[] {
  const [firstLine = ''] = readFileSync(join(projectRoot, 'bin/capstan.js'), 'utf8').split('\n', 1);
  return firstLine.split(' ').filter((word) => word.startsWith('--'));
}

/**
 * For benchmarks inside of this process: restarts it bundled and with the shipped node arguments, unless it already is.
 * Otherwise the TypeScript loader would be measured too.
 */
export function runAsShipped(script: string): void {
  if (process.env[shippedMark] !== undefined) return;
  const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-'));
  let status: number | null;
  try {
    symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
    const bundle = join(directory, 'bench.mjs');
    buildSync({
      absWorkingDir: projectRoot,
      entryPoints: [fileURLToPath(script)],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      target: 'node20.19',
      format: 'esm',
      packages: 'external',
      logLevel: 'warning',
    });
    const environment = { ...process.env, [shippedMark]: projectRoot };
    const command = [...shippedNodeArguments(), bundle, ...process.argv.slice(2)];
    ({ status } = spawnSync(process.execPath, command, { stdio: 'inherit', env: environment }));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.exit(status ?? 1);
}
