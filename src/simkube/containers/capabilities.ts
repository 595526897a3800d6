import type { SimulatedProgram } from '../process.ts';
import { imageProgramName } from './images.ts';
import type { ContainerRun } from './types.ts';

/**
 * Programs whose published images give the file a capability. The kernel refuses to start the file if the container
 * lacks it.
 */
const needed: Readonly<Record<string, string>> = { 'kube-apiserver': 'NET_BIND_SERVICE' };

/** Returns the runtime's error for a program that the kernel refuses; undefined if it may start. */
export function refusedByKernel(run: ContainerRun): SimulatedProgram | undefined {
  const program = run.command?.[0] ?? run.args[0];
  const name = imageProgramName(run.image);
  const capability = needed[name];
  const { add = [], drop = [] } = run.capabilities ?? {};
  const has = (list: readonly string[]): boolean => capability !== undefined && list.includes(capability);
  if (capability === undefined || program !== name || has(add) || add.includes('ALL')) return undefined;
  if (!has(drop) && !drop.includes('ALL')) return undefined;
  return async ({ log }) => {
    log(`exec /usr/local/bin/${name}: operation not permitted`);
    return 1;
  };
}
