import { createPrivateKey, X509Certificate } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type KubeadmClusterConfiguration, type Secret, Secrets } from '../../../api/index.ts';
import { ManualClock, type OwnerReference, seededRandom, statusError } from '../../../machinery/index.ts';
import { createAuthority } from '../../../pki/index.ts';
import { type FaultRule, faultyClient, memoryClient } from '../../../runtime/testkit/index.ts';
import {
  authorityHashes,
  type ClusterCertificateError,
  certificateFiles,
  controlPlaneCertificatePlans,
  ensureClusterCertificates,
  findClusterCertificates,
  pairInUserData,
  requireClusterCertificates,
} from './index.ts';

const cluster = { namespace: 'default', name: 'c1' };
const owner: OwnerReference = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmControlPlane',
  name: 'c1',
  uid: 'u1',
  controller: true,
  blockOwnerDeletion: true,
};
const dayMs = 24 * 3_600_000;
const by = { fieldManager: 'test' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function setting(configuration?: KubeadmClusterConfiguration, faults: FaultRule[] = []) {
  const clock = new ManualClock();
  const server = memoryClient({ clock, random: seededRandom(1) });
  const access = { client: faultyClient(server, faults), cluster, plans: controlPlaneCertificatePlans(configuration) };
  return { clock, server, access, options: { ...access, clock, owner } };
}

const secret = (name: string, data: Record<string, string>, type = 'Opaque'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
  type,
  data,
});

describe('the certificates of a cluster', () => {
  it('are created once and found afterwards', async () => {
    const { server, options, access } = setting();
    expect((await findClusterCertificates(access)).size).toBe(0);
    const made = await ensureClusterCertificates(options);
    expect([...made.keys()]).toEqual(['ca', 'etcd', 'proxy', 'sa']);
    const writes = server.writes().length;
    const again = await ensureClusterCertificates(options);
    expect(server.writes()).toHaveLength(writes);
    expect([...again.values()].map(({ certificate }) => certificate)).toEqual(
      [...made.values()].map(({ certificate }) => certificate),
    );
    const stored = await server.get(Secrets, { namespace: 'default', name: 'c1-ca' });
    expect(stored).toMatchObject({
      type: 'cluster.x-k8s.io/secret',
      metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'c1' }, ownerReferences: [owner] },
    });
  });

  it.each([
    [undefined, 'ec', 'prime256v1'],
    ['ECDSA-P384', 'ec', 'secp384r1'],
    ['RSA-2048', 'rsa', 2048],
  ] as const)('have the requested key type: %s', async (encryptionAlgorithm, type, detail) => {
    const { options } = setting({ ...(encryptionAlgorithm && { encryptionAlgorithm }) });
    for (const { privateKey } of (await ensureClusterCertificates(options)).values()) {
      const key = createPrivateKey(privateKey ?? '');
      expect(key.asymmetricKeyType).toBe(type);
      expect(key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyDetails?.modulusLength).toBe(detail);
    }
  });

  it('are valid as long as requested', async () => {
    const { options, clock } = setting({ caCertificateValidityPeriodDays: 30 });
    const authority = (await ensureClusterCertificates(options)).get('ca');
    const { validTo, ca, subject } = new X509Certificate(authority?.certificate ?? '');
    expect({ ca, subject }).toEqual({ ca: true, subject: 'CN=kubernetes' });
    expect(Date.parse(validTo)).toBe(clock.now() + 30 * dayMs);
  });

  it('are the same for two callers that create them at once', async () => {
    const { options } = setting();
    const [one, other] = await Promise.all([ensureClusterCertificates(options), ensureClusterCertificates(options)]);
    expect(authorityHashes(one)).toEqual(authorityHashes(other));
    expect(one.get('sa')?.privateKey).toBe(other.get('sa')?.privateKey);
  });

  it.each(['before', 'after'] as const)('are complete after a failure at any step (%s the write)', async (when) => {
    for (const nth of [1, 2, 3, 4]) {
      const error = () => statusError.tooManyRequests('later', 1);
      const { options, server } = setting(undefined, [
        { verb: 'create', resource: 'secrets', nth, when, error, times: 1 },
      ]);
      await expect(ensureClusterCertificates(options)).rejects.toThrow('later');
      const made = await ensureClusterCertificates(options);
      expect([...made.keys()]).toEqual(['ca', 'etcd', 'proxy', 'sa']);
      expect((await server.list(Secrets, { namespace: 'default' })).items).toHaveLength(4);
    }
  });

  it('are used unchanged when a user brought them, without an owner', async () => {
    const { options, server, clock } = setting();
    const { certificate, privateKey } = await createAuthority({ commonName: 'mine', clock });
    const brought = secret('c1-ca', { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) });
    await server.create(Secrets, brought, by);
    expect((await ensureClusterCertificates(options)).get('ca')?.certificate).toBe(certificate);
    const stored = await server.get(Secrets, { namespace: 'default', name: 'c1-ca' });
    expect(stored.metadata.ownerReferences).toBeUndefined();
  });

  it('get a lost owner reference back when they were created here', async () => {
    const { options, server } = setting();
    await ensureClusterCertificates(options);
    const key = { namespace: 'default', name: 'c1-etcd' };
    await server.patch(Secrets, key, 'merge', { metadata: { ownerReferences: null } }, by);
    await ensureClusterCertificates(options);
    expect((await server.get(Secrets, key)).metadata.ownerReferences).toEqual([owner]);
  });

  it('report which Secret is missing', async () => {
    const { access } = setting();
    const failure = await requireClusterCertificates(access).catch(
      (error: unknown) => error as ClusterCertificateError,
    );
    expect(failure).toMatchObject({ missing: true, secret: { namespace: 'default', name: 'c1-ca' } });
  });

  it('report what is wrong with an invalid pair', async () => {
    const { access, server, clock } = setting();
    const [one, other] = await Promise.all([1, 2].map(() => createAuthority({ commonName: 'x', clock })));
    const data = { 'tls.crt': base64(one!.certificate), 'tls.key': base64(other!.privateKey) };
    await server.create(Secrets, secret('c1-ca', data), by);
    await expect(findClusterCertificates(access)).rejects.toThrow(
      'Secret default/c1-ca holds a private key that is not the one of its certificate; make them a pair',
    );
  });
});

describe('the certificates of an external etcd', () => {
  const configuration: KubeadmClusterConfiguration = {
    etcd: {
      external: { endpoints: ['https://e:2379'], caFile: '/e/ca.crt', certFile: '/e/c.crt', keyFile: '/e/c.key' },
    },
  };

  it('are never created, and missing ones are reported by name', async () => {
    const { options, server } = setting(configuration);
    await expect(ensureClusterCertificates(options)).rejects.toThrow(
      /c1-(etcd|apiserver-etcd-client) does not exist; external etcd/,
    );
    expect(server.writes()).toEqual([]);
  });

  it('are written to the configured paths, without the key of the authority', async () => {
    const { options, server, clock } = setting(configuration);
    const { certificate, privateKey } = await createAuthority({ commonName: 'etcd', clock });
    const pair = { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) };
    await server.create(Secrets, secret('c1-etcd', { 'tls.crt': pair['tls.crt'] }), by);
    await server.create(Secrets, secret('c1-apiserver-etcd-client', pair), by);
    const paths = certificateFiles(await ensureClusterCertificates(options)).map(({ path }) => path);
    expect(paths).toContain('/e/ca.crt');
    expect(paths).toContain('/e/c.key');
    expect(paths.filter((path) => path.includes('etcd'))).toEqual([]);
  });
});

describe('certificate pairs in user data', () => {
  const plan = controlPlaneCertificatePlans(undefined)[0]!;
  const { certificateFile, keyFile } = plan;
  const gzipped = (text: string): string => gzipSync(text).toString('base64');

  it.each<[string, string]>([
    [
      'cloud-config',
      `## template: jinja\n#cloud-config\n${stringify({
        write_files: [
          { path: certificateFile, content: 'certificate\n' },
          { path: keyFile, content: base64('key\n'), encoding: 'base64' },
        ],
        runcmd: ['echo "{{ ds.meta_data.instance_id }}"'],
      })}`,
    ],
    [
      'compressed cloud-config',
      stringify({
        write_files: [
          { path: certificateFile, content: gzipped('certificate\n'), encoding: 'gzip+base64' },
          { path: keyFile, content: gzipped('key\n'), encoding: 'gz+b64' },
        ],
      }),
    ],
    [
      'Ignition',
      JSON.stringify({
        ignition: { version: '3.4.0' },
        storage: {
          files: [
            { path: certificateFile, contents: { source: `data:,${encodeURIComponent('certificate\n')}` } },
            { path: keyFile, contents: { source: `data:;base64,${gzipped('key\n')}`, compression: 'gzip' } },
          ],
        },
      }),
    ],
  ])('are found in %s', (_form, userData) => {
    expect(pairInUserData(userData, plan)).toEqual({ certificate: 'certificate\n', privateKey: 'key\n' });
  });

  it.each([
    ['what is no document', '{{ nothing'],
    ['a list', '[]'],
    ['other files', stringify({ write_files: [{ path: certificateFile, content: 'certificate' }] })],
    [
      'content that is not compressed as it says',
      stringify({ write_files: [{ path: certificateFile, content: 'x', encoding: 'gz' }] }),
    ],
  ])('are not found in %s', (_what, userData) => {
    expect(pairInUserData(userData, plan)).toBeUndefined();
  });
});
