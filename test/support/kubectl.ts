import { join } from 'node:path';
import {
  describeOutcome,
  isInstalled,
  type Outcome,
  type RunningProcess,
  runProcess,
  startProcess,
} from './process.ts';

export interface KubectlOptions {
  kubeconfig: string;
  /** home, temporary files and discovery cache; one per test, so that no test sees CRDs of another */
  directory: string;
  namespace?: string;
  /** standard input, for `-f -` */
  input?: string;
  env?: Readonly<Record<string, string>>;
}

/** CAPSTAN_KUBECTL names another kubectl, for example another version. */
const kubectlProgram = process.env['CAPSTAN_KUBECTL'] || 'kubectl';

let installed: Promise<boolean> | undefined;

/** Returns why tests with kubectl cannot run here, or undefined if they can. */
export async function missingKubectl(): Promise<string | undefined> {
  installed ??= isInstalled(kubectlProgram, 'version', '--client');
  return (await installed) ? undefined : `needs kubectl: "${kubectlProgram}" is not installed or does not run`;
}

function commandLine(args: readonly string[], options: KubectlOptions): string[] {
  const { kubeconfig, directory, namespace } = options;
  return [
    ...['--kubeconfig', kubeconfig, '--cache-dir', join(directory, 'cache')],
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ...args,
  ];
}

/** Isolated from the caller's Kubernetes settings. */
function environment(options: KubectlOptions): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: options.directory,
    TMPDIR: options.directory,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    ...options.env,
  };
}

/** Runs kubectl to its end. */
export function kubectl(args: readonly string[], options: KubectlOptions): Promise<Outcome> {
  const { input } = options;
  return runProcess(kubectlProgram, commandLine(args, options), {
    env: environment(options),
    ...(input !== undefined && { input }),
  });
}

/** Returns kubectl for a kubeconfig. It returns the output, or throws with all of it. */
export function kubectlOn(kubeconfig: string, directory: string): (...args: string[]) => Promise<string> {
  return async (...args) => printed(await kubectl(args, { kubeconfig, directory }));
}

/** Runs `kubectl apply`. Returns the output, or throws with all of it. */
export async function kubectlApply(kubeconfig: string, directory: string, input: string): Promise<string> {
  return printed(await kubectl(['apply', '-f', '-'], { kubeconfig, directory, input }));
}

function printed(outcome: Outcome): string {
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  return outcome.stdout;
}

/** Starts a long-running kubectl (`get -w`, `wait`). */
export function startKubectl(args: readonly string[], options: KubectlOptions): RunningProcess {
  return startProcess(kubectlProgram, commandLine(args, options), { env: environment(options) });
}
