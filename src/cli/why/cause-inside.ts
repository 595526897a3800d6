import { inside, workloadConfig } from '../doctor/cluster/inside.ts';
import { runChecks } from '../doctor/cluster/run-checks.ts';
import type { ManagedCluster, RunningCluster } from '../doctor/cluster/subject.ts';
import { insideChecks } from '../doctor/cluster/workload-side.ts';
import type { Cause } from './first-cause.ts';

/** Checks inside a cluster for problems that no condition shows. */
export async function lookInside(subject: ManagedCluster, signal: AbortSignal): Promise<Cause | undefined> {
  try {
    const config = await workloadConfig(subject, signal);
    return await inside(subject, { config, authUrl: undefined }, (running) => causeInside(running, signal));
  } catch {
    signal.throwIfAborted();
    // A cluster that is unreachable from here may be healthy; otherwise a condition would report it.
    return undefined;
  }
}

export async function causeInside(running: RunningCluster, signal: AbortSignal): Promise<Cause | undefined> {
  const found = (await runChecks(insideChecks, running, signal)).find(({ status }) => status === 'failed');
  if (!found) return undefined;
  const { check, detail, cure } = found;
  const reason = check.replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    object: `Cluster/${running.name}`,
    reason,
    message: detail,
    next: cure ?? `capstan doctor cluster ${running.name}`,
  };
}
