import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { type Secret, Secrets } from '../../api/index.ts';
import { ignoreNotFound, ManualClock, seededRandom } from '../../machinery/index.ts';
import { createManager } from '../../runtime/index.ts';
import { memoryClient, runUntil } from '../../runtime/testkit/index.ts';
import { conditionOf } from '../shared/index.ts';
import { certificateControllers } from './certificate-controller.ts';
import { type Certificate, Certificates, type Issuer, Issuers } from './types.ts';

const by = { fieldManager: 'test' };
const at = (name: string) => ({ namespace: 'n', name });

describe('certificates for Pods', () => {
  const stop = new AbortController();
  afterEach(() => stop.abort());

  it('are self-signed or signed by an authority, renewed, and reported when they cannot be', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const client = memoryClient({ clock, random: seededRandom(1) });
    const manager = createManager({ client, clock, random: seededRandom(2) });
    for (const definition of certificateControllers(manager.reader)) manager.add(definition);
    const running = manager.run(stop.signal);
    await manager.whenReady();
    const certificate = (name: string, issuer: string, spec: Certificate['spec'] = {}) =>
      client.create(
        Certificates,
        {
          apiVersion: 'cert-manager.io/v1',
          kind: 'Certificate',
          metadata: at(name),
          spec: {
            secretName: `${name}-tls`,
            issuerRef: { name: issuer },
            dnsNames: [`${name}.n.svc`],
            privateKey: { algorithm: 'ECDSA' },
            ...spec,
          },
        },
        by,
      );
    const issuer = (name: string, spec: Issuer['spec']) =>
      client.create(Issuers, { apiVersion: 'cert-manager.io/v1', kind: 'Issuer', metadata: at(name), spec: spec! }, by);
    const secret = (name: string): Promise<Secret | undefined> =>
      client.get(Secrets, at(`${name}-tls`)).catch(ignoreNotFound);
    const parsed = async (name: string, key = 'tls.crt'): Promise<X509Certificate> =>
      new X509Certificate(Buffer.from((await secret(name))?.data?.[key] ?? '', 'base64'));
    const ready = async (name: string) => conditionOf(await client.get(Certificates, at(name)), 'Ready');

    // the certificate exists before its issuer
    await certificate('web', 'self', { duration: '3h' });
    await runUntil(clock, async () => (await ready('web'))?.message === 'there is no Issuer "self"');
    await issuer('self', { selfSigned: {} });
    await runUntil(clock, async () => (await ready('web'))?.status === 'True', { limitMs: 5_000 });
    const first = await parsed('web');
    expect(first.subjectAltName).toBe('DNS:web.n.svc');
    expect(first.verify((await parsed('web', 'ca.crt')).publicKey)).toBe(true);
    expect((await secret('web'))?.type).toBe('kubernetes.io/tls');

    // a CA, and a certificate it signs
    await certificate('root', 'self', { isCA: true, commonName: 'root' });
    await issuer('ca', { ca: { secretName: 'root-tls' } });
    await certificate('leaf', 'ca');
    await runUntil(clock, async () => (await ready('leaf'))?.status === 'True');
    expect((await parsed('leaf')).verify((await parsed('root')).publicKey)).toBe(true);

    // renewed before it expires
    await clock.advance(2 * 3_600_000);
    await runUntil(clock, async () => (await parsed('web')).serialNumber !== first.serialNumber);

    // a foreign Secret is not overwritten, and a missing issuer is not assumed
    const theirs: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: at('taken-tls'), data: { mine: 'eA==' } };
    await client.create(Secrets, theirs, by);
    await certificate('taken', 'self');
    await runUntil(clock, async () => (await ready('taken'))?.reason === 'SecretTaken');
    expect((await secret('taken'))?.data).toEqual({ mine: 'eA==' });
    await issuer('acme', {});
    await certificate('public', 'acme');
    await runUntil(clock, async () =>
      /only selfSigned and ca are built in/.test((await ready('public'))?.message ?? ''),
    );
    stop.abort();
    await running;
  });
});
