import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { systemClock as clock } from '../machinery/index.ts';
import { createAuthority, crossSignAuthority, issueCertificate } from './authority.ts';
import { parseCertificate } from './certificate.ts';

describe('an authority cross-signed by another', () => {
  it('is accepted by those who know only the other and by those who know it itself', async () => {
    const first = await createAuthority({ commonName: 'kubernetes', clock });
    const second = await createAuthority({ commonName: 'kubernetes', clock });
    const third = await createAuthority({ commonName: 'kubernetes', clock });
    const links = [
      crossSignAuthority({ certificate: third.certificate, signer: second, clock }),
      crossSignAuthority({ certificate: second.certificate, signer: first, clock }),
    ];
    const leaf = await issueCertificate({
      authority: third,
      commonName: 'kube-apiserver',
      hosts: ['localhost'],
      usages: ['server'],
      clock,
    });
    const answers = async (chain: string, ca: string): Promise<string> => {
      const server = createServer({ cert: chain, key: leaf.privateKey }, (socket) => socket.end());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca });
      const outcome = await new Promise<string>((resolve) => {
        socket.once('secureConnect', () => resolve('trusted'));
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      });
      socket.destroy();
      server.close();
      return outcome;
    };
    const whole = [leaf.certificate, ...links].join('');
    expect(await answers(whole, first.certificate)).toBe('trusted');
    expect(await answers(whole, second.certificate)).toBe('trusted');
    expect(await answers(whole, third.certificate)).toBe('trusted');
    expect(await answers(leaf.certificate, first.certificate)).not.toBe('trusted');
    const stranger = await createAuthority({ commonName: 'kubernetes', clock });
    expect(await answers(whole, stranger.certificate)).not.toBe('trusted');
  });

  it('is cross-signed for no longer than either of them lives', async () => {
    const old = await createAuthority({ commonName: 'a', clock, validityMs: 3_600_000 });
    const next = await createAuthority({ commonName: 'a', clock });
    const cross = parseCertificate(crossSignAuthority({ certificate: next.certificate, signer: old, clock }));
    expect(cross.isAuthority).toBe(true);
    expect(cross.notAfter).toBe(parseCertificate(old.certificate).notAfter);
  });
});
