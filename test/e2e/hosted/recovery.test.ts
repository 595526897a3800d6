import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { capstan, capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlOn } from '../../support/kubectl.ts';

const patienceMs = 240_000;
const name = 'hosted-k0smotron';

describe('a management API that is lost with its computer', () => {
  const running: CapstanProcess[] = [];
  const directories: string[] = [];
  const start = async (directory: string, args: readonly string[] = []): Promise<CapstanProcess> => {
    const options = { directory, args: ['--simulated-cloud', ...args], controllers: 'all', pods: 'simulated' as const };
    const server = await startCapstan(options);
    running.push(server);
    return server;
  };
  const place = async (): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-recovery-'));
    directories.push(directory);
    return directory;
  };
  afterAll(async () => {
    for (const server of running) await server.end('SIGKILL');
    for (const directory of directories) await rm(directory, { recursive: true, force: true });
  });

  it('is restored elsewhere from its archive, with its clusters', async () => {
    const here = await place();
    const lost = await start(here);
    const on = (...args: string[]): string[] => [...args, '--kubeconfig', lost.kubeconfig];
    await capstanOk(on('apply', '-f', `examples/${name}`));
    const available = async (kubeconfig: string): Promise<void> => {
      const list = JSON.parse(await capstanOk(['get', 'clusters', '-o', 'json', '--kubeconfig', kubeconfig]));
      const conditions = list.items[0].status?.conditions ?? [];
      expect(conditions).toContainEqual(expect.objectContaining({ type: 'Available', status: 'True' }));
    };
    await eventually(() => available(lost.kubeconfig), patienceMs);
    const workload = join(here, 'workload.kubeconfig');
    await writeFile(workload, await capstanOk(on('get', 'kubeconfig', name)));
    await kubectlOn(workload, here)('create', 'configmap', 'kept', '--from-literal=a=b');

    const archive = join(here, 'archive');
    const passphrase = join(here, 'passphrase');
    await writeFile(passphrase, 'correct horse battery\n');
    const sealed = ['--passphrase-file', passphrase];
    const key = ['--encryption-key-file', join(here, 'key')];
    await capstanOk(on('backup', ...sealed, ...key, '--data-dir', join(here, 'data'), archive));
    await lost.end('SIGKILL');

    const there = await place();
    await writeFile(join(there, 'wrong'), 'something else\n');
    const restore = [
      'restore',
      '--data-dir',
      join(there, 'data'),
      '--encryption-key-file',
      join(there, 'key'),
      archive,
    ];
    const wrong = await capstan([...restore, '--passphrase-file', join(there, 'wrong')]);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('the passphrase is not the one');
    const restored = await capstan([...restore, ...sealed]);
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.stderr).toContain(`kubeconfigs that were handed out say ${lost.url}`);

    const found = await start(there);
    // The old kubeconfig with the new address.
    const old = join(there, 'old.kubeconfig');
    await writeFile(old, (await readFile(lost.kubeconfig, 'utf8')).replace(lost.url, found.url));
    await eventually(() => available(old), patienceMs);
    await eventually(async () => {
      const kubectl = kubectlOn(workload, there);
      expect(await kubectl('get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}')).toBe('b');
      expect(await kubectl('get', 'nodes')).toMatch(/ Ready /);
    }, patienceMs);
  }, 900_000);
});
