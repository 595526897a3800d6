import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCapstan } from '../../support/capstan.ts';
import { capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningProcess, startProcess } from '../../support/process.ts';
import { capstanProgram } from '../../support/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

describe('SIGTERM to a running program', () => {
  let here = '';
  beforeEach(async () => {
    here = await mkdtemp(join(tmpdir(), 'capstan-signals-'));
  });
  afterEach(() => rm(here, { recursive: true, force: true }));
  const start = (...args: string[]): RunningProcess => {
    const env = { ...(process.env as Record<string, string>), TMPDIR: here, NO_COLOR: '1' };
    return startProcess(process.execPath, [...capstanProgram(), ...args], { cwd: root, env });
  };
  const up = (): RunningProcess =>
    start(
      'up',
      '--data-dir',
      join(here, 'data'),
      '--listen',
      '127.0.0.1:0',
      '--kubeconfig',
      join(here, 'k'),
      '--simulated-cloud',
    );

  it('ends a program that is starting, wherever it is', async () => {
    for (const made of ['store', 'pki', 'cloud']) {
      const child = up();
      await eventually(async () => {
        expect(await readdir(join(here, 'data'))).toContain(made);
      });
      const outcome = await child.stop('SIGTERM');
      expect(outcome.code, outcome.stderr).toBe(0);
      expect(outcome.stderr).not.toMatch(/^\s+at /m);
      await rm(join(here, 'data'), { recursive: true, force: true });
    }
  });

  it('ends a demo that waits for its cluster, which leaves nothing behind', async () => {
    const child = start('demo');
    await child.until((stdout) => stdout.includes('applied examples'), 'the example');
    const outcome = await child.stop('SIGTERM');
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(outcome.stderr).not.toMatch(/^\s+at /m);
    expect((await readdir(here)).filter((name) => name.startsWith('capstan-demo'))).toEqual([]);
  });

  it('ends a server whose clients still watch, and a verb that watches', async () => {
    const server = await startCapstan();
    try {
      await capstanOk(['apply', '-f', 'examples/management-api', '--kubeconfig', server.kubeconfig]);
      const follow = async (): Promise<RunningProcess> => {
        const child = start(
          'describe',
          'cluster',
          'blue',
          '-n',
          'team-a',
          '--watch',
          '--kubeconfig',
          server.kubeconfig,
        );
        await child.until((stdout) => stdout.includes('Cluster/blue'), 'the tree');
        return child;
      };
      const first = await follow();
      const second = await follow();
      const stopped = await first.stop('SIGTERM');
      expect(stopped.stderr).not.toMatch(/^\s+at /m);
      expect(stopped.code).toBe(0);
      // The second one is still watching.
      await server.end('SIGTERM');
      expect(server.logs()).toContain('Stopping');
      expect(server.logs()).not.toContain('something does not stop');
      await second.stop('SIGTERM');
    } finally {
      await server.stop();
    }
  });
});
