import type { PortService } from '../../../simkube/index.ts';

/** Listeners on the ports of all running machines. */
export class Listeners {
  readonly #byServer = new Map<string, Map<number, PortService>>();
  readonly #changed: (serverId: string) => void;

  /** `changed` is called with the server after every change. */
  constructor(changed: (serverId: string) => void) {
    this.#changed = changed;
  }

  get(serverId: string, port: number): PortService | undefined {
    return this.#byServer.get(serverId)?.get(port);
  }

  ports(serverId: string): Iterable<number> {
    return this.#byServer.get(serverId)?.keys() ?? [];
  }

  /** Adds a listener. It replaces an existing one on the port. */
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

  /** Removes all listeners of a machine. */
  clear(serverId: string): void {
    if (this.#byServer.delete(serverId)) this.#changed(serverId);
  }
}
