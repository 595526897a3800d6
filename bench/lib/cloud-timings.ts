import type { CloudProcess } from './cloud-process.ts';

export interface MachinePace {
  /** from the creation of a server to its operating system, in seconds */
  boot: number;
  /** duration of each: etcd, the API server, and the registration of a node, in seconds */
  step: number;
  /** relative variation of all these times */
  jitter: number;
}

/** Durations of the simulated machines, in milliseconds. */
export function timingsOf({ boot, step, jitter }: MachinePace): Record<string, number | [number, number]> {
  const around = (seconds: number): [number, number] => [seconds * 1000 * (1 - jitter), seconds * 1000 * (1 + jitter)];
  return {
    // The boot time includes the creation of the server.
    ...{ 'server.schedule': 0, 'server.network': 0, 'server.devices': 0, 'server.spawn': 0 },
    'machine.boot': around(boot),
    'node.etcd': around(step),
    'node.apiserver': around(step),
    'node.join': around(step),
  };
}

/** Sets the durations of the simulated machines. */
export async function setTimings({ operate }: CloudProcess, pace: MachinePace): Promise<void> {
  await operate('PATCH', '/timings', { timings: timingsOf(pace) });
}
