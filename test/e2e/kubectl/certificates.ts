import { expect } from 'vitest';
import { createCsr } from '../../../src/pki/index.ts';
import { eventually } from '../../support/eventually.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { table } from './output.ts';

interface Spec {
  commonName?: string;
  organizations?: string[];
  signerName?: string;
  usages?: string[];
  expirationSeconds?: number;
}

/** Certificate signing requests, their signers and approvers. */
export function certificateExpectations(expectation: Expectation): void {
  /** Creates a signing request with a unique name. */
  const ask = async (s: Sandbox, name: string, desired: Spec = {}): Promise<{ privateKey: string; name: string }> => {
    const { csr, privateKey } = await createCsr({
      commonName: desired.commonName ?? `jane-${s.id}`,
      organizations: desired.organizations ?? [],
    });
    const manifest = request(s, name, csr, desired);
    s.cleanUp(() => s.run`delete csr ${name}-${s.id} --ignore-not-found`);
    await s.with(manifest).ok`create -f -`;
    return { privateKey, name: `${name}-${s.id}` };
  };
  const request = (s: Sandbox, name: string, csr: string, desired: Spec = {}): object => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `${name}-${s.id}` },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName: desired.signerName ?? 'kubernetes.io/kube-apiserver-client',
      usages: desired.usages ?? ['client auth'],
      ...(desired.expirationSeconds !== undefined && { expirationSeconds: desired.expirationSeconds }),
    },
  });

  expectation('an approved request is signed, and its certificate opens the API', async (s) => {
    const { name, privateKey } = await ask(s, 'good', { organizations: [`devs-${s.id}`], expirationSeconds: 3600 });
    expect(await s.ok`get csr ${name} -o jsonpath=${'{.status.certificate}'}`).toBe('');
    await s.ok`certificate approve ${name}`;
    await s.ok`wait csr ${name} --for=jsonpath=${'{.status.certificate}'}`;
    const row = table(await s.ok`get csr ${name} --no-headers`)[0]!;
    expect(row.slice(2)).toEqual([
      'kubernetes.io/kube-apiserver-client',
      expect.stringMatching(/admin$/) as string,
      '60m',
      'Approved,Issued',
    ]);
    const encoded = await s.ok`get csr ${name} -o jsonpath=${'{.status.certificate}'}`;
    const jane = await s.withCertificate(Buffer.from(encoded, 'base64').toString(), privateKey);
    const rows = table(await jane.ok`auth whoami`);
    expect(rows).toEqual(
      expect.arrayContaining([
        ['Username', `jane-${s.id}`],
        ['Groups', `[devs-${s.id} system:authenticated]`],
      ]),
    );
    expect(await jane.fails`get pods`).toContain(`User "jane-${s.id}" cannot list resource "pods"`);
  });

  expectation('a request its signer does not allow fails and says why', async (s) => {
    const failing: [string, Spec, string][] = [
      ['usage', { usages: ['client auth', 'server auth'] }, 'invalid usage for client certificate: server auth'],
      [
        'kubelet',
        { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' },
        'subject organization is not system:nodes',
      ],
      [
        'serving',
        {
          signerName: 'kubernetes.io/kubelet-serving',
          commonName: 'system:node:a',
          organizations: ['system:nodes'],
          usages: ['digital signature', 'server auth'],
        },
        'DNS or IP subjectAltName is required',
      ],
    ];
    for (const [what, desired, message] of failing) {
      const { name } = await ask(s, what, desired);
      await s.ok`certificate approve ${name}`;
      await s.ok`wait csr ${name} --for=condition=Failed`;
      const { status } = await s.json`csr ${name}`;
      expect(status.conditions[1]).toMatchObject({
        type: 'Failed',
        status: 'True',
        reason: 'SignerValidationFailure',
        message,
      });
      expect(status).not.toHaveProperty('certificate');
    }
  });

  expectation('requests of other signers wait for these', async (s) => {
    const { name } = await ask(s, 'other', { signerName: `example.com/signer-${s.id}` });
    await s.ok`certificate approve ${name}`;
    const { name: known } = await ask(s, 'known');
    await s.ok`certificate approve ${known}`;
    await s.ok`wait csr ${known} --for=jsonpath=${'{.status.certificate}'}`;
    expect(table(await s.ok`get csr ${name} --no-headers`)[0]!.at(-1)).toBe('Approved');
  });

  expectation('client certificates of kubelets are approved for who may ask for them', async (s) => {
    const { name } = await ask(s, 'node', {
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      commonName: `system:node:n-${s.id}`,
      organizations: ['system:nodes'],
      usages: ['digital signature', 'client auth'],
    });
    await s.ok`wait csr ${name} --for=jsonpath=${'{.status.certificate}'}`;
    const { status } = await s.json`csr ${name}`;
    expect(status.conditions).toMatchObject([
      {
        type: 'Approved',
        reason: 'AutoApproved',
        message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      },
    ]);
  });

  expectation('nobody becomes a master of the cluster by certificate', async (s) => {
    const { csr } = await createCsr({ commonName: 'jane', organizations: ['system:masters'] });
    expect(await s.with(request(s, 'master', csr)).fails`create -f -`).toContain(
      `certificatesigningrequests.certificates.k8s.io "master-${s.id}" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
    );
  });

  expectation('requests that cannot be read, or whose sender does not hold the key, are refused', async (s) => {
    const { csr } = await createCsr({ commonName: 'jane' });
    expect(await s.with(request(s, 'text', 'hello')).fails`create -f -`).toContain(
      'PEM block type must be CERTIFICATE REQUEST',
    );
    const [, body = ''] = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*)-----END/.exec(csr) ?? [];
    const bytes = Buffer.from(body, 'base64');
    bytes[bytes.length - 1]! ^= 1;
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(await s.with(request(s, 'forged', forged)).fails`create -f -`).toContain(
      ': x509: ECDSA verification failure',
    );
    const short = request(s, 'short', csr, { expirationSeconds: 599 });
    expect(await s.with(short).fails`create -f -`).toContain(
      'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
    );
  });

  expectation('what was decided and issued stays', async (s) => {
    const { name } = await ask(s, 'fixed');
    await s.ok`certificate approve ${name}`;
    await s.ok`wait csr ${name} --for=jsonpath=${'{.status.certificate}'}`;
    const patch = (status: object): Promise<string> =>
      s.fails`patch csr ${name} --subresource=status --type=merge -p ${JSON.stringify({ status })}`;
    expect(await patch({ conditions: [] })).toContain(
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    );
    expect(await patch({ certificate: '' })).toContain(
      'status.certificate: Forbidden: updates may not modify existing certificate content',
    );
    expect(await patch({ certificate: 'aGVsbG8=' })).toContain(
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    );
    expect(await s.fails`certificate deny ${name}`).toContain('is already Approved');
  });

  expectation('deciding takes the verbs approve and sign on the signer', async (s) => {
    const { name } = await ask(s, 'who');
    const resources =
      'certificatesigningrequests,certificatesigningrequests/approval,certificatesigningrequests/status';
    s.cleanUp(() => s.run`delete clusterrole,clusterrolebinding decider-${s.id} --ignore-not-found`);
    await s.ok`create clusterrole decider-${s.id} --verb=get,list,update,patch --resource=${resources}`;
    await s.ok`create clusterrolebinding decider-${s.id} --clusterrole=decider-${s.id} --user=ann-${s.id}`;
    await eventually(async () => {
      await s.ok`get csr ${name} --as=ann-${s.id}`;
    });
    const signer = '"kubernetes.io/kube-apiserver-client"';
    expect(await s.fails`certificate approve ${name} --as=ann-${s.id}`).toContain(
      `user not permitted to approve requests with signerName ${signer}`,
    );
    const patch = JSON.stringify({ status: { conditions: [{ type: 'Mine', status: 'True' }] } });
    expect(await s.fails`patch csr ${name} --subresource=status --type=merge -p ${patch} --as=ann-${s.id}`).toContain(
      `user not permitted to sign requests with signerName ${signer}`,
    );
  });
}
