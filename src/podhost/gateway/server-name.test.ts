import { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readServerName } from './server-name.ts';

/** The first bytes of a real TLS client. */
function greeting(servername: string | undefined): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, callback) {
        resolve(chunk);
        callback();
      },
    });
    const client = connect({ socket: wire, ...(servername !== undefined && { servername }) });
    client.on('error', () => {});
  });
}

describe('the server name of a connection', () => {
  it('is the one the client asks for, in lower case', async () => {
    expect(readServerName(await greeting('API.demo.example.test'))).toEqual({
      kind: 'named',
      name: 'api.demo.example.test',
    });
    expect(readServerName(await greeting(undefined))).toEqual({ kind: 'nameless' });
  });

  it('is read only from the complete greeting, wherever it is cut', async () => {
    const whole = await greeting('demo.example.test');
    for (let length = 0; length < whole.length; length++) {
      expect(readServerName(whole.subarray(0, length)).kind).toBe('unfinished');
    }
  });

  it('is found in a greeting split into several records', async () => {
    const whole = await greeting('demo.example.test');
    const body = whole.subarray(5);
    const record = (part: Buffer): Buffer => {
      const header = Buffer.from([22, 3, 1, 0, 0]);
      header.writeUInt16BE(part.length, 3);
      return Buffer.concat([header, part]);
    };
    const split = Buffer.concat([record(body.subarray(0, 50)), record(body.subarray(50))]);
    expect(readServerName(split)).toEqual({ kind: 'named', name: 'demo.example.test' });
  });

  it.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['SSH', Buffer.from('SSH-2.0-x\r\n')],
    ['a server greeting', Buffer.from([22, 3, 3, 0, 4, 2, 0, 0, 0])],
  ])('is not found in %s', (_, bytes) => {
    expect(readServerName(bytes)).toEqual({ kind: 'not-tls' });
  });

  it('never makes the reader throw, whatever arrives', async () => {
    const whole = await greeting('demo.example.test');
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.uint8Array(), (at, value, noise) => {
        const damaged = Buffer.from(whole);
        damaged[at] = value;
        expect(['named', 'nameless', 'unfinished', 'not-tls']).toContain(readServerName(damaged).kind);
        expect(['nameless', 'unfinished', 'not-tls']).toContain(readServerName(Buffer.from(noise)).kind);
      }),
    );
  });
});
