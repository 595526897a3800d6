import 'reflect-metadata';
import { generateKeyPairSync } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { createAuthority, issueCertificate } from './authority.ts';
import { createCsr, parseCsr } from './csr.ts';
import { derObjectId, readDer } from './der.ts';
import { derNamedBits, derObjectIdOf, derSmallInteger, derTime, writeDer } from './der-writer.ts';
import type { KeyAlgorithm } from './keys.ts';

// An independent certificate library parses the output of our writer.
const clock = new ManualClock(Date.UTC(2026, 5, 1));
const day = 24 * 60 * 60 * 1000;

describe('certificates read by another library', () => {
  it('describe an authority', async () => {
    const authority = await createAuthority({
      commonName: 'kubernetes',
      clock,
      pathLength: 1,
      validityMs: 40 * 365 * day,
    });
    const read = new x509.X509Certificate(authority.certificate);
    expect(read.subject).toBe('CN=kubernetes');
    expect(read.issuer).toBe(read.subject);
    // From 2050 on, certificates use the other time format.
    expect(read.notAfter.getTime()).toBe(clock.now() + 40 * 365 * day);
    expect(read.getExtension(x509.BasicConstraintsExtension)).toMatchObject({
      ca: true,
      pathLength: 1,
      critical: true,
    });
    expect(read.getExtension(x509.KeyUsagesExtension)).toMatchObject({
      critical: true,
      usages: x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyCertSign,
    });
    const expected = await x509.SubjectKeyIdentifierExtension.create(read.publicKey);
    expect(read.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId).toBe(expected.keyId);
    expect(await read.verify()).toBe(true);
  });

  it('describe a server', async () => {
    const authority = await createAuthority({ commonName: 'kubernetes', clock });
    const pair = await issueCertificate({
      authority,
      commonName: 'kube-apiserver',
      hosts: ['localhost', '10.0.0.1', 'fd00::1'],
      usages: ['server', 'client'],
      clock,
    });
    const read = new x509.X509Certificate(pair.certificate);
    const issuer = new x509.X509Certificate(authority.certificate);
    expect(read.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON()).toEqual([
      { type: 'dns', value: 'localhost' },
      { type: 'ip', value: '10.0.0.1' },
      { type: 'ip', value: 'fd00::1' },
    ]);
    expect(read.getExtension(x509.ExtendedKeyUsageExtension)?.usages).toEqual([
      x509.ExtendedKeyUsage.serverAuth,
      x509.ExtendedKeyUsage.clientAuth,
    ]);
    expect(read.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe(
      issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId,
    );
    expect(await read.verify({ publicKey: issuer.publicKey })).toBe(true);
  });

  it.each<KeyAlgorithm>(['ECDSA-P256', 'ECDSA-P384', 'RSA-2048'])(
    'hold valid requests signed with %s',
    async (algorithm) => {
      const { csr } = await createCsr({ commonName: 'a', organizations: ['b', 'c'], hosts: ['d'], algorithm });
      const read = new x509.Pkcs10CertificateRequest(csr);
      expect(read.subject).toBe('O=b, O=c, CN=a');
      expect(await read.verify()).toBe(true);
      expect((read.getExtension('2.5.29.17') as x509.SubjectAlternativeNameExtension | null)?.names.toJSON()).toEqual([
        { type: 'dns', value: 'd' },
      ]);
    },
  );

  it('include requests of the other library that Capstan reads', async () => {
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-521' }, true, ['sign', 'verify']);
    const request = await x509.Pkcs10CertificateRequestGenerator.create({
      name: 'O=system:nodes, CN=system:node:a',
      keys,
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-512' },
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'email', value: 'a@b' }])],
      attributes: [new x509.ChallengePasswordAttribute('secret')],
    });
    expect(await parseCsr(request.toString('pem'))).toMatchObject({
      subject: { commonName: 'system:node:a', organizations: ['system:nodes'] },
      emailAddresses: ['a@b'],
    });
  });
});

describe('the DER writer', () => {
  it('writes elements of any length that the reader reads back', () => {
    for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
      const content = Buffer.alloc(length, 7);
      expect(readDer(writeDer(4, content))).toEqual([{ tag: 4, content }]);
    }
  });

  it('writes object ids that the reader reads back', () => {
    const id = fc
      .tuple(
        fc.integer({ min: 0, max: 1 }),
        fc.integer({ min: 0, max: 39 }),
        fc.array(fc.nat(2 ** 31 - 1), { minLength: 1 }),
      )
      .map(([first, second, rest]) => [first, second, ...rest].join('.'));
    fc.assert(fc.property(id, (dotted) => derObjectId(readDer(derObjectIdOf(dotted))[0]!.content) === dotted));
  });

  it.each([
    [1, '03020780'],
    [5, '030205a0'],
    [0x25, '030202a4'],
    [256, '0303070080'],
  ])('omits trailing zeros of named bits %i', (flags, hex) => {
    expect(derNamedBits(flags).toString('hex')).toBe(hex);
  });

  it.each([
    [0, '020100'],
    [2, '020102'],
    [127, '02017f'],
    [128, '02020080'],
    [256, '02020100'],
  ])('writes the integer %i', (value, hex) => {
    expect(derSmallInteger(value).toString('hex')).toBe(hex);
  });

  it('writes times in the form their year requires', () => {
    expect(readDer(derTime(Date.UTC(2049, 11, 31, 23, 59, 59)))[0]).toMatchObject({
      tag: 0x17,
      content: Buffer.from('491231235959Z'),
    });
    expect(readDer(derTime(Date.UTC(2050, 0, 1)))[0]).toMatchObject({
      tag: 0x18,
      content: Buffer.from('20500101000000Z'),
    });
  });
});

describe('parseCsr', () => {
  it('refuses every truncated or altered request', async () => {
    const { csr } = await createCsr({ commonName: 'a', organizations: ['b'], hosts: ['c'] });
    const der = (await parseCsr(csr)).der;
    const pem = (bytes: Buffer): string =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    const refused = { code: 'CAP_CSR_INVALID' };
    for (let at = 0; at < der.length; at++) {
      await expect(parseCsr(pem(der.subarray(0, at)))).rejects.toMatchObject(refused);
      for (let bit = 0; bit < 8; bit++) {
        const altered = Buffer.from(der);
        altered[at]! ^= 1 << bit;
        await expect(parseCsr(pem(altered)), `bit ${bit} of byte ${at}`).rejects.toMatchObject(refused);
      }
    }
  });
});

it('refuses keys of other kinds by name', async () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  await expect(createAuthority({ commonName: 'a', clock, privateKey: pem })).rejects.toThrow(
    'keys of type ed25519 are not supported; use RSA or an EC key',
  );
});
