import type { ApiServer } from '../../apiserver/index.ts';
import { type CancelTimer, type Clock, errorMessage } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { ClusterControllers, ControllerSelection } from '../controllers/index.ts';
import type { ControllerManagerSettings, ControllerRoles } from './settings.ts';

export interface ControllerSwitchOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** the API server to use; undefined if there is none or etcd has no quorum */
  server(): ApiServer | undefined;
  start(server: ApiServer, desired: ControllerSelection): ClusterControllers;
}

/** Controllers that change within this time are restarted together. */
const settleMs = 100;

interface Running {
  readonly controllers: ClusterControllers;
  readonly server: ApiServer;
  readonly key: string;
}

/** Runs the controllers of a cluster while a machine or Pod hosts them and an API server is available. */
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

  /** Starts, restarts or stops the controllers to match the present state. */
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

  /** Of several equal candidates, the first one leads. */
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
