import type { RunningMachine } from '../../types.ts';

/** Servers by cluster. Agents of rke2 learn all of them, and continue when the one they registered with is gone. */
export class ServerAddresses {
  readonly #byCluster = new Map<string, Set<RunningMachine>>();

  add(cluster: string, machine: RunningMachine): void {
    const machines = this.#byCluster.get(cluster) ?? new Set();
    this.#byCluster.set(cluster, machines);
    machines.add(machine);
    const forget = (): void => {
      machines.delete(machine);
      if (machines.size === 0 && this.#byCluster.get(cluster) === machines) this.#byCluster.delete(cluster);
    };
    machine.signal.addEventListener('abort', forget, { once: true });
  }

  of(cluster: string): string[] {
    return [...(this.#byCluster.get(cluster) ?? [])].flatMap(({ addresses }) => addresses[0] ?? []);
  }
}
