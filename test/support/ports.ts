import { createServer } from 'node:net';

const host = '127.0.0.1';

/** Returns consecutive free ports, for programs that cannot choose and report their own. */
export async function freePorts(count: number): Promise<number[]> {
  for (;;) {
    const first = await freePort(0);
    const rest = Array.from({ length: count - 1 }, (_, index) => first + index + 1);
    const free = await Promise.all(rest.map((port) => freePort(port).catch(() => undefined)));
    if (free.every((port) => port !== undefined)) return [first, ...rest];
  }
}

async function freePort(wanted: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, host, () => resolve());
  });
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
