import 'reflect-metadata';
import { createHash, createPrivateKey, createPublicKey, webcrypto, X509Certificate } from 'node:crypto';
import { BasicConstraintsExtension, SubjectKeyIdentifierExtension, X509CertificateGenerator } from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { createAuthority, issueCertificate } from './authority.ts';
import { caCertHash, extendedKeyUsageIds, isMatchingPair, parseCertificate } from './certificate.ts';
import { generateKeys } from './keys.ts';
import { decodePem, encodePem, splitCertificates } from './pem.ts';

const day = 24 * 60 * 60 * 1000;
const clock = new ManualClock(Date.UTC(2026, 5, 1));
const authority = await createAuthority({ commonName: 'kubernetes', clock });

describe('createAuthority', () => {
  it('makes a self-signed authority valid for ten years', () => {
    const certificate = new X509Certificate(authority.certificate);
    const info = parseCertificate(certificate);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(info).toMatchObject({
      isAuthority: true,
      subject: { commonName: 'kubernetes', organizations: [] },
      issuer: { commonName: 'kubernetes', organizations: [] },
      notAfter: clock.now() + 3650 * day,
    });
    expect(info.notBefore).toBeLessThan(clock.now());
    expect(authority.privateKey).toContain('BEGIN EC PRIVATE KEY');
  });

  it('uses the key it is given', async () => {
    const { privateKey } = await generateKeys();
    const again = await createAuthority({ commonName: 'x', clock, privateKey });
    expect(isMatchingPair(again.certificate, privateKey)).toBe(true);
  });
});

describe('issueCertificate', () => {
  it('issues a server certificate for its hosts', async () => {
    const pair = await issueCertificate({
      authority,
      commonName: 'kube-apiserver',
      hosts: ['localhost', '127.0.0.1', '::1', 'fd00:0::12'],
      usages: ['server'],
      clock,
    });
    const info = parseCertificate(pair.certificate);
    expect(info).toMatchObject({
      isAuthority: false,
      dnsNames: ['localhost'],
      ipAddresses: ['127.0.0.1', '::1', 'fd00::12'],
      extendedKeyUsages: [extendedKeyUsageIds.serverAuth],
      notAfter: clock.now() + 365 * day,
    });
    expect(isMatchingPair(pair.certificate, pair.privateKey, authority.certificate)).toBe(true);
    expect(new X509Certificate(pair.certificate).checkHost('localhost')).toBe('localhost');
  });

  it('keeps every group, even values that look like encodings or contain separators', async () => {
    const organizations = ['system:masters', 'a,b+c=d', '#0c0178', 'line\nO=evil', 'ünïcode'];
    const pair = await issueCertificate({
      authority,
      commonName: '#0c0561646d696e',
      organizations,
      usages: ['client'],
      clock,
    });
    expect(parseCertificate(pair.certificate).subject).toEqual({ commonName: '#0c0561646d696e', organizations });
  });

  it('never issues a certificate that outlives its authority', async () => {
    const short = await createAuthority({ commonName: 'short', clock, validityMs: day });
    const pair = await issueCertificate({ authority: short, commonName: 'x', usages: ['client'], clock });
    expect(parseCertificate(pair.certificate).notAfter).toBe(clock.now() + day);
  });

  it('works with RSA keys on both sides', async () => {
    const rsa = await createAuthority({ commonName: 'rsa', clock, algorithm: 'RSA-2048' });
    const pair = await issueCertificate({
      authority: rsa,
      commonName: 'x',
      usages: ['client'],
      clock,
      algorithm: 'RSA-2048',
    });
    expect(pair.privateKey).toContain('BEGIN RSA PRIVATE KEY');
    expect(createPublicKey(pair.privateKey).asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(isMatchingPair(pair.certificate, pair.privateKey, rsa.certificate)).toBe(true);
  });

  it("refers to the authority by the authority's own key identifier", async () => {
    // Implementations hash the key differently; Go changed its method in 1.25.
    const { privateKey } = await generateKeys();
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
    const { subtle } = webcrypto;
    const pkcs8 = createPrivateKey(privateKey).export({ type: 'pkcs8', format: 'der' });
    const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
    const keys = {
      privateKey: await subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']),
      publicKey: await subtle.importKey('spki', spki, algorithm, true, ['verify']),
    };
    const certificate = await X509CertificateGenerator.createSelfSigned({
      name: 'CN=foreign',
      notBefore: new Date(clock.now() - day),
      notAfter: new Date(clock.now() + 400 * day),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new SubjectKeyIdentifierExtension('0102030405060708090a0b0c0d0e0f1011121314'),
      ],
    });
    const foreign = { certificate: certificate.toString('pem'), privateKey };
    const pair = await issueCertificate({ authority: foreign, commonName: 'x', usages: ['client'], clock });
    // checkIssued compares the identifiers, as OpenSSL does when it builds chains.
    expect(isMatchingPair(pair.certificate, pair.privateKey, foreign.certificate)).toBe(true);
  });

  it('gives every certificate its own serial number', async () => {
    const serials = await Promise.all(
      [1, 2, 3].map(async () => {
        const pair = await issueCertificate({ authority, commonName: 'x', usages: ['client'], clock });
        return parseCertificate(pair.certificate).serialNumber;
      }),
    );
    expect(new Set(serials).size).toBe(3);
  });
});

describe('belongsTogether', () => {
  it('refuses a foreign key, a foreign authority and garbage', async () => {
    const other = await createAuthority({ commonName: 'kubernetes', clock });
    const pair = await issueCertificate({ authority, commonName: 'x', usages: ['client'], clock });
    expect(isMatchingPair(pair.certificate, other.privateKey)).toBe(false);
    expect(isMatchingPair(pair.certificate, pair.privateKey, other.certificate)).toBe(false);
    expect(isMatchingPair('nothing', 'of use')).toBe(false);
  });
});

describe('caCertHash', () => {
  it('hashes the public key as kubeadm does', () => {
    const spki = createPublicKey(authority.certificate).export({ type: 'spki', format: 'der' });
    expect(caCertHash(authority.certificate)).toBe(`sha256:${createHash('sha256').update(spki).digest('hex')}`);
  });
});

describe('PEM', () => {
  it('is read block by block and written in lines of 64 characters', () => {
    const bytes = Buffer.from('x'.repeat(100));
    const text = `noise\n${encodePem('A B', bytes)}${encodePem('CERTIFICATE', bytes)}`;
    expect(decodePem(text).map(({ label, bytes: content }) => [label, content.toString()])).toEqual([
      ['A B', 'x'.repeat(100)],
      ['CERTIFICATE', 'x'.repeat(100)],
    ]);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBe(64);
    expect(splitCertificates(text)).toEqual([encodePem('CERTIFICATE', bytes)]);
  });
});
