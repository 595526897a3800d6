import type { CloudProcess } from './cloud-process.ts';

export interface MachinePace {
  /** from a server's creation to its operating system, in seconds */
  boot: number;
  /** etcd, the API server and the registration of a node take this long each, in seconds */
  step: number;
  /** share by which every one of these times varies */
  jitter: number;
}

/** Machines as slow as asked for. */
export async function setTimings({ operate }: CloudProcess, { boot, step, jitter }: MachinePace): Promise<void> {
  const around = (seconds: number): [number, number] => [seconds * 1000 * (1 - jitter), seconds * 1000 * (1 + jitter)];
  await operate('PATCH', '/timings', {
    timings: {
      // The boot is counted from the creation of the server.
      ...{ 'server.schedule': 0, 'server.network': 0, 'server.devices': 0, 'server.spawn': 0 },
      'machine.boot': around(boot),
      'node.etcd': around(step),
      'node.apiserver': around(step),
      'node.join': around(step),
    },
  });
}
