import { describe, expect, it } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { createAuthority } from './authority.ts';
import { extendedKeyUsageIds, isMatchingPair, parseCertificate } from './certificate.ts';
import { createCsr, parseCsr, signCsr } from './csr.ts';
import { decodePem, encodePem } from './pem.ts';
import { signerNames } from './signers.ts';

const minute = 60_000;
const clock = new ManualClock(Date.UTC(2026, 5, 1));
const authority = await createAuthority({ commonName: 'kubernetes', clock });
const node = { commonName: 'system:node:worker-1', organizations: ['system:nodes'] };
const nodeClient = ['digital signature', 'client auth'];
const nodeServer = ['digital signature', 'key encipherment', 'server auth'];

describe('parseCsr', () => {
  it('reads subject and names', async () => {
    const { csr } = await createCsr({ ...node, hosts: ['worker-1', '10.0.0.7'] });
    expect(await parseCsr(csr)).toMatchObject({
      subject: node,
      dnsNames: ['worker-1'],
      ipAddresses: ['10.0.0.7'],
      emailAddresses: [],
      uris: [],
    });
  });

  it('refuses other blocks, garbage and a broken signature', async () => {
    const { csr } = await createCsr(node);
    const bytes = Buffer.from(decodePem(csr)[0]!.bytes);
    bytes[bytes.length - 1]! ^= 1;
    await expect(parseCsr(encodePem('CERTIFICATE REQUEST', bytes))).rejects.toMatchObject({ code: 'CAP_CSR_INVALID' });
    await expect(parseCsr(encodePem('CERTIFICATE', bytes))).rejects.toThrow(
      'PEM block type must be CERTIFICATE REQUEST',
    );
    await expect(parseCsr(encodePem('CERTIFICATE REQUEST', Buffer.from('x')))).rejects.toMatchObject({
      code: 'CAP_CSR_INVALID',
    });
  });
});

describe('signCsr', () => {
  it('signs a kubelet client for the time asked', async () => {
    const { csr, privateKey } = await createCsr(node);
    const certificate = await signCsr({
      csr,
      authority,
      signerName: signerNames.apiServerClientKubelet,
      usages: nodeClient,
      expirationSeconds: 3600,
      clock,
    });
    expect(isMatchingPair(certificate, privateKey, authority.certificate)).toBe(true);
    expect(parseCertificate(certificate)).toMatchObject({
      subject: node,
      extendedKeyUsages: [extendedKeyUsageIds.clientAuth],
      notBefore: clock.now() - 5 * minute,
      notAfter: clock.now() + 60 * minute,
      isAuthority: false,
    });
  });

  it.each([
    ['too short', 1, 10 * minute],
    ['too long', 10 ** 9, 365 * 24 * 60 * minute - 5 * minute],
    ['absent', undefined, 365 * 24 * 60 * minute - 5 * minute],
  ])('bounds a lifetime that is %s', async (_, expirationSeconds, expected) => {
    const { csr } = await createCsr(node);
    const certificate = await signCsr({
      csr,
      authority,
      signerName: signerNames.legacyUnknown,
      usages: nodeClient,
      clock,
      ...(expirationSeconds !== undefined && { expirationSeconds }),
    });
    expect(parseCertificate(certificate).notAfter).toBe(clock.now() + expected);
  });

  it('copies the names of a serving request', async () => {
    const { csr } = await createCsr({ ...node, hosts: ['worker-1', 'fd00::7'] });
    const certificate = await signCsr({
      csr,
      authority,
      signerName: signerNames.kubeletServing,
      usages: nodeServer,
      clock,
    });
    expect(parseCertificate(certificate)).toMatchObject({ dnsNames: ['worker-1'], ipAddresses: ['fd00::7'] });
  });

  it('does not turn a group that looks encoded into another group', async () => {
    // `#0c0e…` is the text form of names for the encoded string system:masters.
    const hidden = `#0c0e${Buffer.from('system:masters').toString('hex')}`;
    const { csr } = await createCsr({ commonName: 'x', organizations: [hidden] });
    const certificate = await signCsr({
      csr,
      authority,
      signerName: signerNames.apiServerClient,
      usages: ['client auth'],
      clock,
    });
    expect(parseCertificate(certificate).subject.organizations).toEqual([hidden]);
  });

  const clientKubelet = signerNames.apiServerClientKubelet;
  it.each([
    [clientKubelet, { commonName: 'system:node:a' }, nodeClient, 'subject organization is not system:nodes'],
    [
      clientKubelet,
      { ...node, organizations: ['system:nodes', 'system:masters'] },
      nodeClient,
      'subject organization is not system:nodes',
    ],
    [clientKubelet, { ...node, hosts: ['a'] }, nodeClient, 'DNS subjectAltNames are not allowed'],
    [clientKubelet, { ...node, hosts: ['10.0.0.1'] }, nodeClient, 'IP subjectAltNames are not allowed'],
    [clientKubelet, { ...node, commonName: 'a' }, nodeClient, 'subject common name does not begin with system:node:'],
    [clientKubelet, node, nodeServer, 'usages did not match [client auth digital signature key encipherment]'],
    [signerNames.kubeletServing, node, nodeServer, 'DNS or IP subjectAltName is required'],
    [
      signerNames.kubeletServing,
      { ...node, hosts: ['a'] },
      nodeClient,
      'usages did not match [digital signature key encipherment server auth]',
    ],
    [signerNames.apiServerClient, node, ['server auth'], 'invalid usage for client certificate: server auth'],
    [
      signerNames.apiServerClient,
      node,
      ['digital signature'],
      'missing required usage for client certificate: client auth',
    ],
    [signerNames.legacyUnknown, node, ['to rule'], 'unrecognized usage values: ["to rule"]'],
    ['example.com/mine', node, nodeClient, 'unrecognized signerName: "example.com/mine"'],
  ])('%s refuses a request that is not meant for it (%#)', async (signerName, subject, usages, message) => {
    const { csr } = await createCsr(subject);
    await expect(signCsr({ csr, authority, signerName, usages, clock })).rejects.toMatchObject({
      code: 'CAP_CSR_REFUSED',
      message,
    });
  });
});
