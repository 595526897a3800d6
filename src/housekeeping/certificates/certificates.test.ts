import { afterEach, describe, expect, it } from 'vitest';
import { type CertificateSigningRequest, CertificateSigningRequests, ClusterRoleBindings } from '../../api/index.ts';
import { clone, ManualClock } from '../../machinery/index.ts';
import { createAuthority, createCsr, isMatchingPair, parseCertificate } from '../../pki/index.ts';
import { type EmbeddedWorld, embeddedWorld } from '../testing/embedded-world.ts';
import { certificateApprovalController } from './approval.ts';
import { certificateCleaner } from './cleaner.ts';
import { certificateSigningController } from './signing.ts';

const authority = await createAuthority({ commonName: 'kubernetes', clock: new ManualClock() });
const by = { fieldManager: 'test' };
const hour = 3_600_000;
const nodeClient = 'kubernetes.io/kube-apiserver-client-kubelet';
const anyClient = 'kubernetes.io/kube-apiserver-client';

let world: EmbeddedWorld;
afterEach(() => world.stop());

interface Spec {
  signerName?: string;
  usages?: string[];
  commonName?: string;
  organizations?: string[];
  expirationSeconds?: number;
  hosts?: string[];
}

async function begin(which: ('sign' | 'approve' | 'clean')[]): Promise<void> {
  const controllers = {
    sign: certificateSigningController({ authority }),
    approve: certificateApprovalController(),
    clean: certificateCleaner(),
  };
  world = await embeddedWorld({ controllers: () => which.map((name) => controllers[name]) });
}

async function ask(desired: Spec = {}, as = world.client): Promise<{ privateKey: string }> {
  const { commonName = 'jane', organizations = [], hosts = [], signerName = anyClient } = desired;
  const { csr, privateKey } = await createCsr({ commonName, organizations, hosts });
  await as.create(
    CertificateSigningRequests,
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'r' },
      spec: {
        request: Buffer.from(csr).toString('base64'),
        signerName,
        usages: desired.usages ?? ['client auth'],
        ...(desired.expirationSeconds !== undefined && { expirationSeconds: desired.expirationSeconds }),
      },
    },
    by,
  );
  return { privateKey };
}

const found = (): Promise<CertificateSigningRequest | undefined> => world.find(CertificateSigningRequests, 'r');

async function decide(type: 'Approved' | 'Denied'): Promise<void> {
  const request = clone((await found())!);
  request.status = { conditions: [{ type, status: 'True', reason: 'Test', message: 'as the test asks' }] };
  await world.client.update(CertificateSigningRequests, request, { ...by, subresource: 'approval' });
}

async function settledStatus(): Promise<NonNullable<CertificateSigningRequest['status']>> {
  const hasOutcome = async (): Promise<boolean> => {
    const { certificate, conditions = [] } = (await found())?.status ?? {};
    return certificate !== undefined || conditions.some(({ type }) => type === 'Failed');
  };
  await world.soon(hasOutcome);
  return (await found())!.status!;
}

describe('an approved certificate request', () => {
  it('is signed by the authority of the cluster for its key, its subject and the time asked', async () => {
    await begin(['sign']);
    const { privateKey } = await ask({ organizations: ['team'], expirationSeconds: 7200 });
    await decide('Approved');
    const { certificate } = await settledStatus();
    const pem = Buffer.from(certificate!, 'base64').toString('utf8');
    expect(isMatchingPair(pem, privateKey, authority.certificate)).toBe(true);
    const info = parseCertificate(pem);
    expect(info.subject).toEqual({ commonName: 'jane', organizations: ['team'] });
    expect(Math.abs(info.notAfter - (world.clock.now() + 2 * hour))).toBeLessThan(10_000);
  });

  it.each<[Spec, string]>([
    [{ usages: ['client auth', 'server auth'] }, 'invalid usage for client certificate: server auth'],
    [{ usages: ['digital signature'] }, 'missing required usage for client certificate: client auth'],
    [{ signerName: nodeClient }, 'subject organization is not system:nodes'],
    [
      { signerName: nodeClient, organizations: ['system:nodes'], commonName: 'system:node:a', hosts: ['a'] },
      'DNS subjectAltNames are not allowed',
    ],
    [
      { signerName: nodeClient, organizations: ['system:nodes'], commonName: 'system:node:a' },
      'usages did not match [client auth digital signature key encipherment]',
    ],
    [
      { signerName: 'kubernetes.io/kubelet-serving', organizations: ['system:nodes'], commonName: 'system:node:a' },
      'DNS or IP subjectAltName is required',
    ],
  ])('fails when it wants %j: %s', async (desired, message) => {
    await begin(['sign']);
    await ask(desired);
    await decide('Approved');
    const { certificate, conditions } = await settledStatus();
    expect(certificate).toBeUndefined();
    expect(conditions).toMatchObject([
      { type: 'Approved' },
      { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message },
    ]);
  });

  it('is left to its own signer when it names another one', async () => {
    await begin(['sign', 'approve']);
    await ask({ signerName: 'example.com/own' });
    await decide('Approved');
    await world.clock.advance(hour);
    expect((await found())!.status).not.toHaveProperty('certificate');
    expect(world.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('an undecided certificate request', () => {
  it('is never signed', async () => {
    await begin(['sign']);
    await ask();
    await world.clock.advance(hour);
    expect((await found())!.status).toEqual({});
  });
});

describe('client certificates of kubelets', () => {
  const kubelet: Spec = {
    signerName: nodeClient,
    organizations: ['system:nodes'],
    commonName: 'system:node:a',
    usages: ['digital signature', 'client auth'],
  };
  const bootstrapper = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:authenticated'] };
  const node = { name: 'system:node:a', groups: ['system:nodes', 'system:authenticated'] };

  const bind = async (group: string, role: string): Promise<void> => {
    const apiGroup = 'rbac.authorization.k8s.io';
    await world.client.create(
      ClusterRoleBindings,
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: `${group}:${role}` },
        roleRef: { apiGroup, kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'Group', apiGroup, name: group }],
      },
      by,
    );
  };
  const grant = (group: string, what: 'nodeclient' | 'selfnodeclient'): Promise<void> =>
    bind(group, `system:certificates.k8s.io:certificatesigningrequests:${what}`);
  /** Anybody may create a request; approval is a separate step. */
  const beginWithNodes = async (): Promise<void> => {
    await begin(['sign', 'approve']);
    for (const group of ['system:bootstrappers', 'system:nodes']) await bind(group, 'system:node-bootstrapper');
  };

  it('are approved and issued to a joining node that may ask for them', async () => {
    await beginWithNodes();
    await grant('system:bootstrappers', 'nodeclient');
    await ask(kubelet, world.server.localClient(bootstrapper));
    const { conditions, certificate } = await settledStatus();
    expect(certificate).toBeTruthy();
    expect(conditions).toMatchObject([
      {
        type: 'Approved',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      },
    ]);
  });

  it('are renewed for the node itself', async () => {
    await beginWithNodes();
    await grant('system:nodes', 'selfnodeclient');
    await ask(kubelet, world.server.localClient(node));
    expect((await settledStatus()).conditions).toMatchObject([
      { message: 'Auto approving self kubelet client certificate after SubjectAccessReview.' },
    ]);
  });

  it('are refused to a node that may renew only its own and asks for those of another', async () => {
    await beginWithNodes();
    await grant('system:nodes', 'selfnodeclient');
    await ask({ ...kubelet, commonName: 'system:node:b' }, world.server.localClient(node));
    await world.clock.advance(hour);
    expect((await found())!.status).toEqual({});
  });

  it('are approved once the right is granted, even if it is granted late', async () => {
    await beginWithNodes();
    await ask(kubelet, world.server.localClient(bootstrapper));
    await world.clock.advance(hour);
    expect((await found())!.status).toEqual({});
    await grant('system:bootstrappers', 'nodeclient');
    await world.clock.advance(hour);
    await settledStatus();
  });
});

describe('old certificate requests', () => {
  const goneAfter = async (): Promise<number> => {
    const startMs = world.clock.now();
    await world.until(async () => (await found()) === undefined, 48 * hour);
    return Math.round((world.clock.now() - startMs) / hour);
  };

  it('are deleted one hour after they were issued', async () => {
    await begin(['sign', 'clean']);
    await ask();
    await decide('Approved');
    await settledStatus();
    expect(await goneAfter()).toBe(1);
  });

  it('are deleted one hour after they were denied', async () => {
    await begin(['clean']);
    await ask();
    await decide('Denied');
    expect(await goneAfter()).toBe(1);
  });

  it('are deleted when nobody decided about them for a day', async () => {
    await begin(['clean']);
    await ask();
    expect(await goneAfter()).toBe(24);
  });

  it('are kept while they wait for a signer', async () => {
    await begin(['clean']);
    await ask({ signerName: 'example.com/own' });
    await decide('Approved');
    await world.clock.advance(72 * hour);
    expect(await found()).toBeDefined();
  });
});
