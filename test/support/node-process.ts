import { type RunningProcess, startProcess } from './process.ts';
import { capstanEnvironment, capstanProgram } from './program.ts';

const startPatienceMs = 60_000;

export interface NodeProcessOptions {
  readonly kubeconfig: string;
  readonly directory: string;
  readonly name?: string;
  readonly args?: readonly string[];
}

/** Starts `capstan node --simulated --install` and waits until it is ready. */
export async function startSimulatedNode(options: NodeProcessOptions): Promise<RunningProcess> {
  const { kubeconfig, directory, name, args = [] } = options;
  const child = startProcess(
    process.execPath,
    [
      ...[...capstanProgram(), 'node', '--simulated', '--install'],
      ...['--kubeconfig', kubeconfig, '--data-dir', directory],
      ...(name === undefined ? [] : ['--name', name]),
      ...args,
    ],
    capstanEnvironment(),
  );
  try {
    await child.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', startPatienceMs);
  } catch (error) {
    await child.stop('SIGKILL');
    throw error;
  }
  return child;
}
