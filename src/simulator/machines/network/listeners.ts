import type { PortService } from '../../../simkube/index.ts';

/** What answers at the ports of all machines that are switched on. */
export class Listeners {
  readonly #byServer = new Map<string, Map<number, PortService>>();
  readonly #changed: (serverId: string) => void;

  /** `changed` is called after every change, with the server it was about. */
  constructor(changed: (serverId: string) => void) {
    this.#changed = changed;
  }

  get(serverId: string, port: number): PortService | undefined {
    return this.#byServer.get(serverId)?.get(port);
  }

  ports(serverId: string): Iterable<number> {
    return this.#byServer.get(serverId)?.keys() ?? [];
  }

  /** Has something answer at a port; it takes the place of what answered there before. */
  add(serverId: string, port: number, service: PortService): () => void {
    let ports = this.#byServer.get(serverId);
    if (!ports) {
      ports = new Map();
      this.#byServer.set(serverId, ports);
    }
    ports.set(port, service);
    this.#changed(serverId);
    return () => {
      const current = this.#byServer.get(serverId);
      if (current?.get(port) !== service) return;
      current.delete(port);
      if (current.size === 0) this.#byServer.delete(serverId);
      this.#changed(serverId);
    };
  }

  /** Nothing of a machine answers any more. */
  clear(serverId: string): void {
    if (this.#byServer.delete(serverId)) this.#changed(serverId);
  }
}
