import { createServer, type Server, type Socket } from 'node:net';
import { errorMessage } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { HostNetwork } from '../../simkube/index.ts';

/** Reason why an address cannot be listened on, with the system's error code. */
export interface ListenProblem {
  readonly code: string;
  readonly message: string;
}

/** Listening sockets for addresses of the host network. */
export interface HostSockets {
  /** Starts to listen; returns the problem if that fails. Does nothing if already open. */
  open(address: string, port: number): Promise<ListenProblem | undefined>;
  /** also closes connections */
  close(address: string, port: number): Promise<void>;
  closeAll(): Promise<void>;
}

/** Listening sockets that forward every connection to the present target of their address in the network. */
export function hostSockets(network: HostNetwork, log: Logger): HostSockets {
  const open = new Map<string, { server: Server; connections: Set<Socket> }>();

  const listen = (address: string, port: number): Promise<ListenProblem | undefined> => {
    const connections = new Set<Socket>();
    const server = createServer((socket) => {
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
      // A client that disconnects is not an error.
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

/** Without real sockets, every address counts as open. */
export const noSockets: HostSockets = {
  open: async () => undefined,
  close: async () => {},
  closeAll: async () => {},
};

function keyOf(address: string, port: number): string {
  return `${address} ${port}`;
}
