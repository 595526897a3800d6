import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingKubectl } from '../../support/kubectl.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { describeOutcome, type Outcome, type RunningProcess, runProcess, startProcess } from '../../support/process.ts';
import { blockOf } from './guide.ts';
import { installCapstan } from './reader.ts';

const missing = await missingKubectl();
const guide = 'production';

/** Returns the unit's command line on one line. */
function execStart(): string {
  const [, command] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(blockOf(guide, 'The service', 'ini')) ?? [];
  return (command ?? '').replaceAll('\\\n', ' ').replace('/opt/capstan/bin/', '');
}

// The commands of the guide, with the directories, port and issuer of the test.
describe.skipIf(missing !== undefined)(`the guide to production${missing ? ` (${missing})` : ''}`, () => {
  let directory: string;
  let issuer: OidcIssuer;
  let server: RunningProcess;
  let url: string;
  let env: Record<string, string>;

  const here = (text: string): string =>
    text
      .replaceAll('/var/lib/capstan', join(directory, 'lib'))
      .replaceAll('/etc/capstan', join(directory, 'etc'))
      .replaceAll('/var/log/capstan', join(directory, 'log'))
      .replaceAll('/backup/', `${join(directory, 'backup')}/`)
      .replaceAll('0.0.0.0:6443', '127.0.0.1:0')
      .replaceAll('https://login.example.com', issuer.url);
  const run = (commands: string): Promise<Outcome> =>
    runProcess('bash', ['-euo', 'pipefail', '-c', commands], { cwd: directory, env });
  const succeed = async (commands: string): Promise<string> => {
    const outcome = await run(commands);
    expect(outcome.code, describeOutcome(outcome)).toBe(0);
    return outcome.stdout;
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-production-'));
    for (const name of ['lib', 'etc', 'log', 'backup', 'bin']) await mkdir(join(directory, name), { mode: 0o700 });
    await installCapstan(join(directory, 'bin'));
    issuer = await startOidcIssuer();
    await writeFile(join(directory, 'issuer.crt'), issuer.authority);
    env = {
      PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: directory,
      KUBECONFIG: join(directory, 'etc', 'admin.kubeconfig'),
      NO_COLOR: '1',
    };
    const command = `exec ${here(execStart())} --oidc-ca-file ${join(directory, 'issuer.crt')}`;
    server = startProcess('bash', ['-c', command], { cwd: directory, env });
    await server.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', 60_000);
    const port = /https:\/\/\S+:(\d+)/.exec(server.stdout())?.[1] ?? '';
    url = `https://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await server?.stop('SIGKILL');
    await issuer?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('serves its health to clients without credentials under the configured name', async () => {
    const ca = await readFile(join(directory, 'lib', 'data', 'pki', 'ca.crt'), 'utf8');
    const dispatcher = new Agent({ connect: { ca, servername: 'capstan.example.com' } });
    expect((await fetch(`${url}/readyz`, { dispatcher })).status).toBe(200);
    expect((await fetch(`${url}/metrics`, { dispatcher })).status).toBe(401);
    await dispatcher.close();
  });

  it('admits people by their groups, each to their own namespace', async () => {
    const kubectl = `kubectl --server ${url}`;
    await succeed(`${kubectl} create namespace team-a`);
    await succeed(`${kubectl} apply -f - <<'EOF'\n${blockOf(guide, 'People', 'yaml')}EOF`);
    const token = await issuer.token({ aud: 'capstan', email: 'ann@example.com', groups: ['team-a'] });
    const ca = join(directory, 'lib', 'data', 'pki', 'ca.crt');
    const ann = `kubectl --kubeconfig /dev/null --server ${url} --certificate-authority ${ca} --token ${token}`;
    await succeed(`${ann} -n team-a create configmap mine`);
    expect((await run(`${ann} -n default create configmap mine`)).stderr).toContain('forbidden');
    expect(await readFile(join(directory, 'log', 'audit.log'), 'utf8')).toContain('ann@example.com');
  });

  it('makes a backup while the server runs', async () => {
    await writeFile(join(directory, 'etc', 'passphrase'), 'correct horse battery staple\n', { mode: 0o600 });
    await succeed(here(blockOf(guide, 'Backup', 'sh')));
    expect(await readdir(join(directory, 'backup'))).toEqual([expect.stringMatching(/^capstan-/)]);
  });

  it('stops the server when systemd asks it to', async () => {
    expect((await server.stop('SIGTERM')).code).toBe(0);
  });
});
