import type { AddressInfo, Server } from 'node:net';
import { CapstanError, errorMessage } from '../../../machinery/index.ts';

/** Resolves with the port. */
export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  flag: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void =>
      reject(
        new CapstanError('CAP_LISTEN_FAILED', `cannot listen on ${host}:${port}: ${errorMessage(cause)}`, {
          hint: `choose another address with ${flag}`,
          cause,
        }),
      );
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail).on('error', () => {});
      resolve((server.address() as AddressInfo).port);
    });
  });
}
