import type { ApiServer } from '../../apiserver/index.ts';
import { type CancelTimer, type Clock, errorMessage } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { ClusterControllers, ControllerSelection } from '../controllers/index.ts';
import type { ControllerManagerSettings, ControllerRoles } from './settings.ts';

export interface ControllerSwitchOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** the API they are to work with; undefined: there is none, or etcd does not agree */
  server(): ApiServer | undefined;
  start(server: ApiServer, desired: ControllerSelection): ClusterControllers;
}

/** Controllers that come and go together are restarted together. */
const settleMs = 100;

interface Running {
  readonly controllers: ClusterControllers;
  readonly server: ApiServer;
  readonly key: string;
}

/** Has the controllers of a cluster run while there is a place for them and an API to talk to. */
export class ControllerSwitch {
  readonly #options: ControllerSwitchOptions;
  readonly #roles = new Map<string, ControllerRoles>();
  #running: Running | undefined;
  #cancel: CancelTimer | undefined;
  #isClosed = false;

  constructor(options: ControllerSwitchOptions) {
    this.#options = options;
  }

  add(id: string, roles: ControllerRoles): void {
    this.#roles.set(id, roles);
    this.adjust();
  }

  remove(id: string): void {
    if (this.#roles.delete(id)) this.adjust();
  }

  /** Starts, restarts or stops them, as things are now. */
  adjust(): void {
    const desired = this.#desired();
    const server = this.#isClosed ? undefined : this.#options.server();
    const current = this.#running;
    if (!server || !desired) {
      this.#cancel?.();
      this.#cancel = undefined;
      this.#stop();
    } else if (!current) {
      this.#running = { controllers: this.#options.start(server, desired), server, key: desired.key };
    } else if ((current.server !== server || current.key !== desired.key) && !this.#cancel) {
      this.#cancel = this.#options.clock.after(settleMs, () => {
        this.#cancel = undefined;
        this.#stop();
        this.adjust();
      });
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    const current = this.#running;
    this.#running = undefined;
    await current?.controllers.stop().catch(() => undefined);
  }

  /** Of those that do the same, the first leads. */
  #desired(): (ControllerSelection & { readonly key: string }) | undefined {
    let manager: ControllerManagerSettings | undefined;
    let scheduler = false;
    for (const roles of this.#roles.values()) {
      manager ??= roles.manager;
      scheduler ||= roles.scheduler ?? false;
    }
    if (!manager && !scheduler) return undefined;
    return { key: JSON.stringify({ manager, scheduler }), ...(manager && { manager }), scheduler };
  }

  #stop(): void {
    const current = this.#running;
    this.#running = undefined;
    current?.controllers
      .stop()
      .catch((error: unknown) =>
        this.#options.log.warn('Controllers of a workload did not stop cleanly', { error: errorMessage(error) }),
      );
  }
}
