import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import type { TlsConnection } from './authentication.ts';

/** Opens a byte stream to a server over an existing tunnel. */
export type DialServer = () => Promise<Duplex>;

/** Starts TLS over a foreign stream and verifies the certificate against the requested host. */
export async function tlsOver(dial: DialServer, host: string, tls: TlsConnection): Promise<TLSSocket> {
  const name = host.replace(/^\[|\]$/g, '');
  const socket = await dial();
  return await new Promise<TLSSocket>((resolve, reject) => {
    const secured = connect({
      socket,
      host: name,
      // TLS server names cannot be IP addresses
      ...(isIP(name) === 0 && { servername: name }),
      ALPNProtocols: ['http/1.1'],
      ...tls,
    });
    const onEnd = (): void => reject(new Error('the way to the server ended before TLS was agreed on'));
    secured.once('error', reject).once('close', onEnd);
    secured.once('secureConnect', () => {
      secured.off('error', reject).off('close', onEnd);
      resolve(secured);
    });
  });
}

type Connected = (...outcome: [Error, null] | [null, Socket | TLSSocket]) => void;

/** The same as connector for undici. */
export function connectorOver(
  dial: DialServer,
  host: string,
  tls: TlsConnection,
): (options: unknown, callback: Connected) => void {
  return (_, callback) => {
    tlsOver(dial, host, tls).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}
