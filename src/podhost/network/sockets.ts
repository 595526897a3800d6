import { createServer, type Server, type Socket } from 'node:net';
import { errorMessage } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { HostNetwork } from '../../simkube/index.ts';

/** Why an address cannot be listened on, with the code of the system. */
export interface ListenProblem {
  readonly code: string;
  readonly message: string;
}

/** Real listening sockets for addresses of the host network. */
export interface HostSockets {
  /** Listens; answers the problem when that is not possible. Does nothing for what is open already. */
  open(address: string, port: number): Promise<ListenProblem | undefined>;
  /** ends connections too */
  close(address: string, port: number): Promise<void>;
  closeAll(): Promise<void>;
}

/** Sockets that lead every connection to what the network has at their address at that moment. */
export function hostSockets(network: HostNetwork, log: Logger): HostSockets {
  const open = new Map<string, { server: Server; connections: Set<Socket> }>();

  const listen = (address: string, port: number): Promise<ListenProblem | undefined> => {
    const connections = new Set<Socket>();
    const server = createServer((socket) => {
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
      // A client that hangs up is no fault of ours.
      socket.on('error', () => socket.destroy());
      try {
        network.dial(address, port).accept(socket);
      } catch (error) {
        log.debug('Nothing answers behind a listening address', { address, port, error: errorMessage(error) });
        socket.resetAndDestroy();
      }
    });
    return new Promise((resolve) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        open.delete(keyOf(address, port));
        resolve({ code: error.code ?? 'UNKNOWN', message: error.message });
      });
      server.listen({ host: address, port }, () => resolve(undefined));
      open.set(keyOf(address, port), { server, connections });
    });
  };

  const close = async (key: string): Promise<void> => {
    const entry = open.get(key);
    if (!entry) return;
    open.delete(key);
    for (const socket of entry.connections) socket.destroy();
    await new Promise<void>((resolve) => entry.server.close(() => resolve()));
  };

  return {
    open: async (address, port) => (open.has(keyOf(address, port)) ? undefined : listen(address, port)),
    close: (address, port) => close(keyOf(address, port)),
    closeAll: async () => {
      await Promise.all([...open.keys()].map(close));
    },
  };
}

/** Where nobody dials over sockets, every address is open at once. */
export const noSockets: HostSockets = {
  open: async () => undefined,
  close: async () => {},
  closeAll: async () => {},
};

function keyOf(address: string, port: number): string {
  return `${address} ${port}`;
}
