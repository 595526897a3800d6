import { must } from '../../machinery/index.ts';
import type { Core } from '../core/core.ts';
import type { FaultRule } from '../core/faults/rule.ts';
import type { Dispatcher } from '../core/http/dispatch.ts';
import type { Timing, TimingOptions } from '../core/timings.ts';

/** What was asked of the operator cannot be done; the message says why. */
export class OperatorError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'OperatorError';
    this.status = status;
  }
}

/** The people behind a cloud: faults on demand, and what they do without asking the users. Nothing of it waits. */
export interface Operator {
  readonly faults: {
    list(): { rule: FaultRule; seen: number; struck: number }[];
    set(rule: FaultRule): void;
    delete(id: string): boolean;
    clear(): void;
  };
  readonly timings: {
    list(): { timeScale: number; timings: Record<string, Timing> };
    change(options: TimingOptions): void;
  };
  /** requests answered so far, by service and method */
  requests(): Record<string, Record<string, number>>;
  resetRequests(): void;
  /** Ends all tokens, or a project's. */
  expireTokens(projectId?: string): void;
  /** The machine stops without nova having been asked; nova notices. */
  stopServer(id: string): void;
  startServer(id: string): void;
  /** The server goes into ERROR with this text. */
  breakServer(id: string, message: string): void;
  /** The server is gone at once, with the ports and volumes that go with it. */
  deleteServer(id: string): void;
  writeConsole(id: string, text: string): void;
  /** Puts a volume into any state: `error`, `in-use`, `deleting`... */
  setVolumeStatus(id: string, status: string): void;
  /** Gives a floating address to another port, or to none: by id or address. */
  moveFloatingIp(idOrAddress: string, portId: string | null): void;
  deletePort(id: string): void;
  breakLoadBalancer(id: string): void;
  /** A hypervisor takes no new servers, or is not there at all. */
  setHost(name: string, state: { enabled?: boolean; up?: boolean }): void;
  setQuota(
    service: 'compute' | 'network' | 'volume' | 'load-balancer',
    projectId: string,
    limits: Readonly<Record<string, number>>,
  ): void;
}

export function createOperator(core: Core, dispatcher: Dispatcher): Operator {
  const { state, services, faults, timings, counts } = core;
  const found = (was: boolean, what: string): void => {
    if (!was) throw new OperatorError(404, `there is no ${what}`);
  };
  /** As the cloud's administrator, through the cloud's own API. */
  const ask = (method: string, path: string, body?: unknown): unknown => {
    const token = state.transact(() => services.identity.issueAdminToken());
    const answer = dispatcher
      .arrive({
        method,
        url: path,
        headers: { 'x-auth-token': token, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      ?.answer();
    const text = answer ? Buffer.from(answer.body).toString() : 'the cloud has no such service';
    if (!answer || answer.status >= 300) throw new OperatorError(answer?.status ?? 404, text);
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    faults: {
      list: () => faults.list(),
      set: (rule) => faults.set(rule),
      delete: (id) => faults.delete(id),
      clear: () => faults.clear(),
    },
    timings: {
      list: () => ({ timeScale: timings.scale, timings: timings.list() }),
      change: (options) => timings.change(options),
    },
    requests: () => counts.list(),
    resetRequests: () => counts.reset(),
    expireTokens: (projectId) => state.transact(() => services.identity.expireTokens(projectId)),
    stopServer: (id) =>
      found(
        state.transact(() => services.compute.stopServer(id)),
        `server ${id} that runs`,
      ),
    startServer: (id) =>
      found(
        state.transact(() => services.compute.startServer(id)),
        `server ${id} that is stopped`,
      ),
    breakServer: (id, message) =>
      found(
        state.transact(() => services.compute.breakServer(id, message)),
        `server ${id}`,
      ),
    deleteServer: (id) =>
      found(
        state.transact(() => services.compute.deleteServer(id)),
        `server ${id}`,
      ),
    writeConsole: (id, text) =>
      found(
        state.transact(() => services.compute.writeConsole(id, text)),
        `server ${id}`,
      ),
    setVolumeStatus: (id, status) =>
      found(
        state.transact(() => services.volume.setStatus(id, status)),
        `volume ${id}`,
      ),
    moveFloatingIp(idOrAddress, portId) {
      const query = idOrAddress.includes('-') ? 'id' : 'floating_ip_address';
      const path = '/network/v2.0/floatingips';
      const { floatingips } = ask('GET', `${path}?${query}=${encodeURIComponent(idOrAddress)}`) as {
        floatingips: { id: string }[];
      };
      found(floatingips.length > 0, `floating address ${idOrAddress}`);
      ask('PUT', `${path}/${must(floatingips[0], 'the first of floatingips').id}`, { floatingip: { port_id: null } });
      if (portId !== null)
        ask('PUT', `${path}/${must(floatingips[0], 'the first of floatingips').id}`, {
          floatingip: { port_id: portId },
        });
    },
    deletePort: (id) => {
      found(services.network.port(id) !== undefined, `port ${id}`);
      state.transact(() => services.network.deletePort(id));
    },
    breakLoadBalancer: (id) =>
      found(
        state.transact(() => services.loadBalancer.breakLoadBalancer(id)),
        `load balancer ${id}`,
      ),
    setHost: (name, change) =>
      found(
        state.transact(() => services.compute.setHost(name, change)),
        `host ${name}`,
      ),
    setQuota: (service, projectId, limits) => {
      found(services.identity.projectExists(projectId), `project ${projectId}`);
      state.transact(() => core.quotas.set(service, projectId, limits));
    },
  };
}
