import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { startCapstan } from '../../support/capstan.ts';
import { capstan, capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningProcess, startProcess } from '../../support/process.ts';
import { capstanProgram } from '../../support/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Large enough to kill a restore while it runs. */
const volumeBytes = 256 * 1024 * 1024;

describe('a restore that is killed', () => {
  let here = '';
  afterAll(() => rm(here, { recursive: true, force: true }));

  it('leaves nothing half restored and can be run again', async () => {
    here = await mkdtemp(join(tmpdir(), 'capstan-restore-'));
    const server = await startCapstan({ directory: join(here, 'first') });
    await server.end();
    await mkdir(join(here, 'first', 'data', 'pods', 'volumes'), { recursive: true });
    await writeFile(join(here, 'first', 'data', 'pods', 'volumes', 'large'), randomBytes(volumeBytes));
    await writeFile(join(here, 'secret'), randomBytes(32));
    const archive = join(here, 'archive');
    const key = ['--key-file', join(here, 'secret')];
    const from = ['--data-dir', join(here, 'first', 'data'), '--encryption-key-file', join(here, 'first', 'key')];
    await capstanOk(['backup', ...key, ...from, archive]);

    const data = join(here, 'second', 'data');
    const restore = [
      'restore',
      ...key,
      '--data-dir',
      data,
      '--encryption-key-file',
      join(here, 'second', 'key'),
      archive,
    ];
    const begin = (): RunningProcess => {
      return startProcess(process.execPath, [...capstanProgram(), ...restore], { cwd: root });
    };
    const child = begin();
    await eventually(async () => {
      expect(await readdir(join(data, 'restoring', 'new', 'pods', 'volumes'))).toEqual(['large']);
    });
    const killed = await child.stop('SIGKILL');
    expect(killed.stdout).toBe('');
    expect(await readdir(data)).toEqual(['restoring']);
    expect(await readdir(join(here, 'second'))).toEqual(['data']);

    const again = await capstan(restore);
    expect(again, again.stderr).toMatchObject({ code: 0 });
    expect((await readdir(data)).sort()).toEqual(['pki', 'pods', 'store']);
    for (const file of ['pki/ca.key', 'pki/sa.key']) {
      expect(await readFile(join(data, file), 'utf8')).toBe(await readFile(join(here, 'first', 'data', file), 'utf8'));
    }
  });
});
