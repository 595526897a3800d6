import { must } from '../../machinery/index.ts';
import type { Core } from '../core/core.ts';
import type { FaultRule } from '../core/faults/rule.ts';
import type { Dispatcher } from '../core/http/dispatch.ts';
import type { Timing, TimingOptions } from '../core/timings.ts';

/** An operator request that cannot be served. The message gives the reason. */
export class OperatorError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'OperatorError';
    this.status = status;
  }
}

/** Operator actions on the cloud: fault injection and changes that bypass its users. All take effect at once. */
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
  /** number of answered requests, by service and method */
  requests(): Record<string, Record<string, number>>;
  resetRequests(): void;
  /** Expires all tokens, or those of one project. */
  expireTokens(projectId?: string): void;
  /** Stops the machine without a request to nova. Nova notices later. */
  stopServer(id: string): void;
  startServer(id: string): void;
  /** Puts the server into ERROR with this message. */
  breakServer(id: string, message: string): void;
  /** Removes the server at once, with its ports and the volumes it owns. */
  deleteServer(id: string): void;
  writeConsole(id: string, text: string): void;
  /** Puts a volume into any state, for example `error`, `in-use` or `deleting`. */
  setVolumeStatus(id: string, status: string): void;
  /** Moves a floating IP, given by id or address, to another port or to none. */
  moveFloatingIp(idOrAddress: string, portId: string | null): void;
  deletePort(id: string): void;
  breakLoadBalancer(id: string): void;
  /** Disables a hypervisor for new servers, or marks it down. */
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
  /** Sends a request to the cloud's own API as its administrator. */
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
