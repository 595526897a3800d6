import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Limits a process to a share of the cores, like the CPU limit of a Pod. Needs root and Linux cgroups. */
export interface CpuLimit {
  add(pid: number): void;
  remove(): void;
}

const periodUs = 50_000;

export function createCpuLimit(name: string, cores: number): CpuLimit {
  const isFirst = existsSync('/sys/fs/cgroup/cpu/cpu.cfs_quota_us');
  const directory = join(isFirst ? '/sys/fs/cgroup/cpu' : '/sys/fs/cgroup', `capstan-bench-${process.pid}-${name}`);
  mkdirSync(directory);
  const quotaUs = Math.round(cores * periodUs);
  if (isFirst) {
    writeFileSync(join(directory, 'cpu.cfs_period_us'), String(periodUs));
    writeFileSync(join(directory, 'cpu.cfs_quota_us'), String(quotaUs));
  } else writeFileSync(join(directory, 'cpu.max'), `${quotaUs} ${periodUs}`);
  return {
    add: (pid) => writeFileSync(join(directory, 'cgroup.procs'), String(pid)),
    remove: () => rmdirSync(directory),
  };
}
