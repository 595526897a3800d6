import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled, runProcess } from '../../support/process.ts';
import { type Target, targets } from '../../support/targets.ts';

const program = fileURLToPath(new URL('./program/', import.meta.url));

const hasGo = await isInstalled('go', 'version');
if (!hasGo) console.log('skipped: the client-go program needs Go, which is not installed');

describe.skipIf(!hasGo)('a client-go program', () => {
  let directory: string;
  let binary: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-client-go-'));
    binary = join(directory, 'client-go');
    const build = await runProcess('go', ['build', '-o', binary, '.'], {
      cwd: program,
      env: { ...(process.env as Record<string, string>), GOFLAGS: '-buildvcs=false' },
    });
    expect(build.code, build.stderr).toBe(0);
  }, 600_000);

  afterAll(() => rm(directory, { recursive: true, force: true }));

  describe.each(targets())('against $name', ({ start }) => {
    let target: Target;

    beforeAll(async () => {
      target = await start();
    });
    afterAll(() => target?.stop());

    it('can use discovery, typed and dynamic clients, apply, informers, leases and eviction', async () => {
      const { code, stdout, stderr } = await runProcess(binary, ['--kubeconfig', target.kubeconfig]);
      const failures = stdout.split('\n').filter((line) => line.startsWith('FAILED'));
      expect(failures, stderr).toEqual([]);
      expect(code, stderr).toBe(0);
      expect(stdout.match(/^ok /gm)).toHaveLength(12);
    }, 240_000);
  });
});
