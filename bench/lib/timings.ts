import type { CloudProcess } from './cloud-process.ts';

/** Machines as slow as asked for, in seconds. */
export async function setTimings(
  { operate }: CloudProcess,
  { boot, step, jitter }: { boot: number; step: number; jitter: number },
): Promise<void> {
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
