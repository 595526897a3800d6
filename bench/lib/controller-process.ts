import { spawn } from 'node:child_process';
import { asDeployed } from './as-deployed.ts';

export interface ControllerProcess {
  readonly pid: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export async function startController(options: {
  program: string;
  kubeconfig: string;
  args: readonly string[];
}): Promise<ControllerProcess> {
  const child = spawn(
    process.execPath,
    [
      ...[options.program, 'controller', '--kubeconfig', options.kubeconfig],
      ...['--webhook-port', '0', '--metrics-bind-address', '0', ...options.args],
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...asDeployed, NODE_ENV: 'production' } },
  );
  const pid = child.pid ?? 0;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (bytes: Buffer) => {
      stdout += bytes.toString();
      if (/^ready$/m.test(stdout)) resolve();
    });
    child.stderr.on('data', (bytes: Buffer) => {
      stderr = (stderr + bytes.toString()).slice(-10_000);
    });
    child.once('exit', (code) => reject(new Error(`capstan controller ended with ${code}:\n${stderr}`)));
  });
  return {
    pid,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      await ended;
    },
  };
}
