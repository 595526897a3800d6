import type { ClusterRegistry } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import { KubeadmFailure } from './failure.ts';

/** What one run of kubeadm works with. */
export interface KubeadmContext {
  readonly machine: RunningMachine;
  readonly registry: ClusterRegistry;
  readonly flags: ReadonlyMap<string, string>;
  /** the kubelet of this machine */
  readonly kubelet: Kubelet;
  /** a line on the console */
  say(line: string): void;
}

/** Phases a user does not want: from the flag and from the configuration. */
export function skippedPhases(context: KubeadmContext, configured: readonly string[]): (phase: string) => boolean {
  const fromFlag = (context.flags.get('skip-phases') ?? '').split(',').filter((phase) => phase !== '');
  const skipped = new Set([...configured, ...fromFlag]);
  return (phase) => skipped.has(phase) || skipped.has(phase.split('/')[0] ?? '');
}

/** Checks of the machine, with the names users can ignore them by. */
export type PreflightCheck = readonly [name: string, problem: string | undefined];

export function runPreflight(
  context: KubeadmContext,
  checks: readonly PreflightCheck[],
  configured: readonly string[],
): void {
  context.say('[preflight] Running pre-flight checks');
  const flag = (context.flags.get('ignore-preflight-errors') ?? '').split(',');
  const ignored = new Set([...flag, ...configured].map((name) => name.toLowerCase()));
  const fatal: string[] = [];
  for (const [name, problem] of checks) {
    if (problem === undefined) continue;
    if (ignored.has('all') || ignored.has(name.toLowerCase())) context.say(`\t[WARNING ${name}]: ${problem}`);
    else fatal.push(`\t[ERROR ${name}]: ${problem}`);
  }
  if (fatal.length === 0) return;
  throw new KubeadmFailure(
    'preflight',
    `[preflight] Some fatal errors occurred:\n${fatal.join('\n')}\n[preflight] If you know what you are doing, you can make a check non-fatal with \`--ignore-preflight-errors=...\``,
  );
}

/** What kubeadm demands of a machine that is to be a control plane. */
export function controlPlaneChecks({ machine }: KubeadmContext): PreflightCheck[] {
  const { vcpus, ramMiB } = machine.server.flavor;
  return [
    ['NumCPU', vcpus < 2 ? `the number of available CPUs ${vcpus} is less than the required 2` : undefined],
    ['Mem', ramMiB < 1700 ? `the system RAM (${ramMiB} MB) is less than the minimum 1700 MB` : undefined],
  ];
}

/** Files of an earlier run are in the way. */
export function fileChecks({ machine }: KubeadmContext, files: readonly string[]): PreflightCheck[] {
  return files.map((path) => [
    `FileAvailable-${path.replaceAll('/', '-')}`,
    machine.disk.read(path) === undefined ? undefined : `${path} already exists`,
  ]);
}
