import type { ComputeService } from '../core/contracts.ts';
import type { Compute } from './compute.ts';
import { appendConsole } from './console.ts';
import { switchOff, switchOn } from './machines.ts';
import { removeServer } from './server-delete.ts';
import type { Server } from './tables.ts';

type UnrequestedChanges = Pick<
  ComputeService,
  'setHost' | 'stopServer' | 'startServer' | 'breakServer' | 'deleteServer' | 'writeConsole'
>;

/** Changes of servers and hosts without a request to nova. Each returns whether the server or host exists. */
export function unrequestedChanges(compute: Compute): UnrequestedChanges {
  const on = (
    id: string,
    fits: (server: Readonly<Server>) => boolean,
    act: (server: Readonly<Server>) => void,
  ): boolean => {
    const server = compute.servers.get(id);
    if (!server || !fits(server)) return false;
    act(server);
    return true;
  };
  const any = (): boolean => true;
  return {
    setHost(id, change) {
      if (!compute.hosts.has(id)) return false;
      compute.hosts.update(id, change);
      return true;
    },
    stopServer: (id) =>
      on(
        id,
        ({ powerState }) => powerState === 1,
        () => {
          compute.change(id, { vmState: 'stopped', taskState: null, powerState: 4 });
          switchOff(compute, id, 'stop');
        },
      ),
    startServer: (id) =>
      on(
        id,
        ({ vmState }) => vmState === 'stopped',
        () => {
          compute.change(id, { vmState: 'active', taskState: null, powerState: 1 });
          switchOn(compute, id);
        },
      ),
    breakServer: (id, message) =>
      on(id, any, ({ powerState }) => {
        if (powerState === 1) switchOff(compute, id, 'error');
        const fault = { code: 500, createdAt: compute.core.now(), message, details: '' };
        compute.change(id, { vmState: 'error', taskState: null, powerState: 0, fault });
      }),
    deleteServer: (id) =>
      on(id, any, (server) => {
        if (server.powerState === 1) switchOff(compute, id, 'delete');
        removeServer(compute, server);
      }),
    writeConsole: (id, text) => on(id, any, () => appendConsole(compute, id, text)),
  };
}
