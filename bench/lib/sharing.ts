import { readFileSync } from 'node:fs';
import { startCapstan } from './capstan.ts';
import { type ControllerProcess, startController } from './controller-process.ts';
import { type CpuLimit, createCpuLimit } from './cpu-limit.ts';

/** Processes that share the clusters of a management API. */
export interface Sharing {
  readonly kubeconfig: string;
  /** pids of the processes that share */
  readonly pids: readonly number[];
  readonly apiPids: readonly number[];
  /** kills the newest one */
  killOne(): void;
  stop(): Promise<void>;
}

interface SharingOptions {
  program: string;
  count: number;
  /** CPU limit of each process in cores; default: all */
  cores?: number;
}

/** Starts `capstan up --workers`, with the embedded API. */
export async function shareBesideOwnApi({ program, count, cores }: SharingOptions): Promise<Sharing> {
  const upArguments = ['--pods', 'none', '--workers', String(count)];
  const capstan = await startCapstan({ program, probe: false, upArguments });
  const pids = childrenOf(capstan.pid);
  const limits = limited(pids, cores);
  return {
    kubeconfig: capstan.kubeconfig,
    pids,
    apiPids: [capstan.pid],
    killOne: () => process.kill(pids.at(-1) ?? Number.NaN, 'SIGKILL'),
    async stop() {
      await capstan.stop();
      for (const limit of limits) limit.remove();
    },
  };
}

/** Starts several `capstan controller --shares`, for any Kubernetes. */
export async function shareOn(
  options: SharingOptions & { kubeconfig: string; apiPids: readonly number[] },
): Promise<Sharing> {
  const { program, kubeconfig, count, cores, apiPids } = options;
  const processes: ControllerProcess[] = [];
  for (let index = 0; index < count; index++) {
    // The first one installs what another API server lacks.
    const args = index === 0 ? ['--shares', '--install'] : ['--shares'];
    processes.push(await startController({ program, kubeconfig, args }));
  }
  const pids = processes.map(({ pid }) => pid);
  const limits = limited(pids, cores);
  return {
    kubeconfig,
    pids,
    apiPids,
    killOne: () => process.kill(pids.at(-1) ?? Number.NaN, 'SIGKILL'),
    async stop() {
      // Newest first, because the first one removes what it installed.
      for (const one of processes.toReversed()) await one.stop();
      for (const limit of limits) limit.remove();
    },
  };
}

function limited(pids: readonly number[], cores: number | undefined): CpuLimit[] {
  if (cores === undefined) return [];
  return pids.map((pid) => {
    const limit = createCpuLimit(String(pid), cores);
    limit.add(pid);
    return limit;
  });
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}
