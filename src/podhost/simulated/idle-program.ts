import { createServer } from 'node:http';
import type { PortService, SimulatedProgram } from '../../simkube/index.ts';

/** What an image does that nobody has taught anything: it stays up, and answers at the ports it declares. */
export function idleProgram(ports: readonly number[]): SimulatedProgram {
  return async (process) => {
    process.log(`simulated container of image ${process.image} started`);
    const service = greetingService(`${process.hostname}: simulated container of image ${process.image}\n`);
    for (const port of ports) process.listen(port, service);
    if (!process.signal.aborted) {
      await new Promise<void>((resolve) => process.signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    return 0;
  };
}

/** Says the same to everybody who speaks HTTP. */
function greetingService(text: string): PortService {
  let server: ReturnType<typeof createServer> | undefined;
  return {
    get: async () => ({ status: 200, body: text }),
    accept(socket) {
      // Most simulated containers are never connected to.
      server ??= createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
        response.end(text);
      });
      server.emit('connection', socket);
    },
  };
}
