import type { ClusterRegistry } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import { KubeadmFailure } from './failure.ts';

/** Context of one kubeadm run. */
export interface KubeadmContext {
  readonly machine: RunningMachine;
  readonly registry: ClusterRegistry;
  readonly flags: ReadonlyMap<string, string>;
  /** kubelet of this machine */
  readonly kubelet: Kubelet;
  /** writes a line to the console */
  say(line: string): void;
}

/** Returns whether a phase is skipped, by the flag or the configuration. */
export function skippedPhases(context: KubeadmContext, configured: readonly string[]): (phase: string) => boolean {
  const fromFlag = (context.flags.get('skip-phases') ?? '').split(',').filter((phase) => phase !== '');
  const skipped = new Set([...configured, ...fromFlag]);
  return (phase) => skipped.has(phase) || skipped.has(phase.split('/')[0] ?? '');
}

/** A preflight check with the name by which users can ignore it. */
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

/** Preflight checks of a control-plane machine. */
export function controlPlaneChecks({ machine }: KubeadmContext): PreflightCheck[] {
  const { vcpus, ramMiB } = machine.server.flavor;
  return [
    ['NumCPU', vcpus < 2 ? `the number of available CPUs ${vcpus} is less than the required 2` : undefined],
    ['Mem', ramMiB < 1700 ? `the system RAM (${ramMiB} MB) is less than the minimum 1700 MB` : undefined],
  ];
}

/** Preflight checks for files of an earlier run. */
export function fileChecks({ machine }: KubeadmContext, files: readonly string[]): PreflightCheck[] {
  return files.map((path) => [
    `FileAvailable-${path.replaceAll('/', '-')}`,
    machine.disk.read(path) === undefined ? undefined : `${path} already exists`,
  ]);
}
