import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../../support/process.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Starts `capstan cloud` from the sources, ten times as fast as a usual cloud. */
export async function startCloud(): Promise<{ cloudsYaml: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-conformance-'));
  const script = process.env['CAPSTAN_PROGRAM'];
  const program = script ? [script] : ['--import', 'tsx', join(root, 'src/cli/main.ts')];
  const child = startProcess(
    process.execPath,
    [...program, 'cloud', '--data-dir', directory, '--listen', '127.0.0.1:0', '--in-memory', '--time-scale', '0.1'],
    { cwd: root, env: process.env as Record<string, string> },
  );
  await child.until((stdout) => /^ready$/m.test(stdout), 'the simulated cloud is ready', 120_000);
  return {
    cloudsYaml: join(directory, 'clouds.yaml'),
    async stop() {
      await child.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
