import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingKubectl } from '../../support/kubectl.ts';
import { describeOutcome, type RunningProcess, runProcess, startProcess } from '../../support/process.ts';
import { stepsOf } from './guide.ts';
import { installCapstan } from './reader.ts';

const missing = await missingKubectl();
const steps = stepsOf('disaster-recovery');

function commandsOf(section: string, nth = 0): string {
  const commands = steps.filter((step) => step.section === section)[nth]?.commands;
  if (commands === undefined) throw new Error(`the guide has no block ${nth} below "${section}"`);
  return commands;
}

/** A simulated computer: a home directory with its contents. */
interface Computer {
  readonly home: string;
  run(commands: string): Promise<string>;
  /** runs a long-running command until it prints `ready` */
  serve(command: string): Promise<RunningProcess>;
}

// The commands of the guide on three computers: the lost one, its replacement, and one to test a restore.
describe.skipIf(missing !== undefined)(`the guide to disaster recovery${missing ? ` (${missing})` : ''}`, () => {
  let directory: string;
  const running: RunningProcess[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-disaster-'));
    await mkdir(join(directory, 'bin'));
    await installCapstan(join(directory, 'bin'));
  });
  afterAll(async () => {
    for (const process of running) await process.stop('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });

  async function computer(name: string): Promise<Computer> {
    const home = join(directory, name);
    await mkdir(home);
    const env = { PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: home, NO_COLOR: '1' };
    const options = { cwd: home, env };
    return {
      home,
      async run(commands) {
        const outcome = await runProcess('bash', ['-euo', 'pipefail', '-c', commands], options);
        expect(outcome.code, describeOutcome(outcome)).toBe(0);
        return outcome.stdout;
      },
      async serve(command) {
        const server = startProcess('bash', ['-euc', `exec ${command}`], options);
        running.push(server);
        await server.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', 60_000);
        return server;
      },
    };
  }

  /** Copies the archive and, separately, the passphrase to another computer. */
  async function carry(from: Computer, to: Computer): Promise<void> {
    for (const file of ['passphrase', 'capstan.archive']) await copyFile(join(from.home, file), join(to.home, file));
    await chmod(join(to.home, 'passphrase'), 0o600);
  }

  const secret = 'kubectl get secret held -o go-template="{{.data.word}}"';
  const word = Buffer.from('xyzzy').toString('base64');

  it('restores a management API on another computer, after a trial run', async () => {
    const lost = await computer('lost');
    const server = await lost.serve('capstan up --listen 127.0.0.1:0');
    await lost.run(
      'kubectl config use-context capstan && kubectl create secret generic held --from-literal=word=xyzzy',
    );
    await lost.run('cp .kube/config handed-out.kubeconfig');
    await lost.run(commandsOf('Back up'));
    await server.stop('SIGKILL');

    const trial = await computer('trial-computer');
    await carry(lost, trial);
    await trial.run(commandsOf('Test a restore'));
    await trial.serve(commandsOf('Test a restore', 1));
    expect(await trial.run(`export KUBECONFIG=trial.kubeconfig; ${secret}`)).toBe(word);

    const other = await computer('other');
    await carry(lost, other);
    await other.run(commandsOf('Restore'));
    const restored = await other.serve(`${commandsOf('Restore', 1)} --listen 127.0.0.1:0`);
    expect(await other.run(`kubectl config use-context capstan >/dev/null; ${secret}`)).toBe(word);

    // Users with an older kubeconfig change only its address, as the guide says.
    const url = /management API\s+(\S+)/.exec(restored.stdout())?.[1] ?? '';
    await copyFile(join(lost.home, 'handed-out.kubeconfig'), join(other.home, 'handed-out.kubeconfig'));
    const held = `export KUBECONFIG=handed-out.kubeconfig; kubectl config set-cluster capstan --server ${url} >/dev/null; ${secret}`;
    expect(await other.run(held)).toBe(word);
  });
});
