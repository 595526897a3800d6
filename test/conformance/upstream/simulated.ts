import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../../support/process.ts';
import { capstanProgram } from '../../support/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Starts `capstan cloud` ten times as fast as a usual cloud. */
export async function startCloud(): Promise<{ cloudsYaml: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-conformance-'));
  const child = startProcess(
    process.execPath,
    [
      ...capstanProgram(),
      'cloud',
      '--data-dir',
      directory,
      '--listen',
      '127.0.0.1:0',
      '--in-memory',
      '--time-scale',
      '0.1',
    ],
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
