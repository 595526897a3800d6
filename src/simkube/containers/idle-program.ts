import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import type { SimulatedProgram } from '../process.ts';
import type { PortService } from '../types.ts';

/** Default program of unknown images: it keeps running and answers on its declared ports. */
export function idleProgram(ports: readonly number[]): SimulatedProgram {
  return async (process) => {
    process.log(`simulated container of image ${process.image} started`);
    const { service, hangUp } = greetingService(`${process.hostname}: simulated container of image ${process.image}\n`);
    for (const port of ports) process.listen(port, service);
    if (!process.signal.aborted) {
      await new Promise<void>((resolve) => process.signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    // Open connections must not outlive the container.
    hangUp();
    return 0;
  };
}

/** Answers every HTTP request with the same text. */
function greetingService(text: string): { service: PortService; hangUp(): void } {
  const connections = new Set<Duplex>();
  let server: ReturnType<typeof createServer> | undefined;
  return {
    service: {
      get: async () => ({ status: 200, body: text }),
      accept(socket) {
        connections.add(socket);
        socket.once('close', () => connections.delete(socket));
        // Created on demand, because most simulated containers never receive a connection.
        server ??= createServer((_request, response) => {
          response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
          response.end(text);
        });
        server.emit('connection', socket);
      },
    },
    hangUp() {
      for (const socket of connections) socket.destroy();
    },
  };
}
