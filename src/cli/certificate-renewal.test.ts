import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { ensureServerPki, type ServerPki } from '../pki/index.ts';
import { nullLogger } from '../runtime/index.ts';
import { renewCertificates } from './certificate-renewal.ts';
import { startMemoryApi } from './testing/memory-api.ts';

const dayMs = 24 * 60 * 60_000;

describe('certificates of a running server', () => {
  it('are renewed in time: new connections get the new one, and open ones continue', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-renewal-'));
    const clock = new ManualClock();
    const ensure = (): Promise<ServerPki> => ensureServerPki({ directory, hosts: ['localhost'], clock });
    const tls = ({ server, authority }: ServerPki): { cert: string; key: string; clientCa: string } => ({
      cert: server.certificate,
      key: server.privateKey,
      clientCa: authority.certificate,
    });
    const first = await ensure();
    const api = await startMemoryApi();
    const listener = await api.server.listen({ host: '127.0.0.1', port: 0, tls: tls(first) });
    const renewed: ServerPki[] = [];
    const stop = renewCertificates({
      clock,
      log: nullLogger,
      current: first,
      ensure,
      onRenewed: (next) => {
        renewed.push(next);
        api.server.setCertificate(tls(next));
      },
    });
    // The test clock differs from that of the TLS library, so only the issuer is verified and not the dates.
    const open = (): Promise<TLSSocket> =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: listener.port, rejectUnauthorized: false }, () =>
          resolve(socket),
        );
        socket.on('error', reject);
      });
    const old = await open();
    const serial = old.getPeerCertificate().serialNumber;
    try {
      await clock.advance(300 * dayMs);
      expect(renewed).toEqual([]);
      await clock.advance(40 * dayMs);
      await vi.waitFor(() => expect(renewed).toHaveLength(1));
      const fresh = await open();
      expect(fresh.getPeerCertificate().serialNumber).not.toBe(serial);
      fresh.destroy();
      const answer = new Promise<string>((resolve) => old.once('data', (data) => resolve(data.toString())));
      old.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect(await answer).toMatch(/^HTTP\/1\.1 401/);
    } finally {
      stop();
      old.destroy();
      await api.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
