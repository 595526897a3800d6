import { type CertificateSigningRequest, CertificateSigningRequests } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { errorMessage, must } from '../../../../machinery/index.ts';
import { createCsr, signerNames } from '../../../../pki/index.ts';
import type { RunningMachine } from '../../types.ts';
import { KubeadmFailure } from './failure.ts';

const retryMs = 5_000;

/** Requests the client certificate of a kubelet and waits until it is issued. */
export async function bootstrapKubeletCertificate(
  machine: RunningMachine,
  connect: () => Client,
  nodeName: string,
  timeoutMs: number,
): Promise<{ certificate: string; key: string }> {
  const { csr, privateKey } = await createCsr({
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
  });
  const deadline = machine.clock.now() + timeoutMs;
  let name: string | undefined;
  for (;;) {
    try {
      const client = connect();
      name ??= await request(client, csr);
      const certificate = await signed(machine, client, name, deadline);
      if (certificate !== undefined) return { certificate, key: privateKey };
    } catch (error) {
      machine.signal.throwIfAborted();
      machine.console.write(`kubelet: failed to bootstrap the client certificate: ${errorMessage(error)}\n`);
    }
    if (machine.clock.now() + retryMs > deadline) {
      throw new KubeadmFailure('kubelet-start', 'timed out waiting for the condition');
    }
    await machine.pass(retryMs);
  }
}

async function request(client: Client, csr: string): Promise<string> {
  const desired: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'csr-' },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName: signerNames.apiServerClientKubelet,
      usages: ['digital signature', 'client auth'],
    },
  };
  const made = await client.create(CertificateSigningRequests, desired, { fieldManager: 'kubelet' });
  return must(made.metadata.name, 'metadata.name');
}

/** Waits for the certificate. Returns undefined on timeout. */
async function signed(
  machine: RunningMachine,
  client: Client,
  name: string,
  deadline: number,
): Promise<string | undefined> {
  const stop = new AbortController();
  const cancel = machine.clock.after(deadline - machine.clock.now(), () => stop.abort());
  const signal = AbortSignal.any([stop.signal, machine.signal]);
  const read = (request: CertificateSigningRequest): string | undefined => {
    const denied = request.status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (denied) {
      throw new KubeadmFailure(
        'kubelet-start',
        `certificate signing request ${name} is not approved, reason: ${denied.reason ?? ''}, message: ${denied.message ?? ''}`,
      );
    }
    const certificate = request.status?.certificate;
    return certificate ? Buffer.from(certificate, 'base64').toString('utf8') : undefined;
  };
  try {
    const options = { fieldSelector: `metadata.name=${name}`, signal };
    // Without a resourceVersion the watch starts with existing objects.
    for await (const { object } of client.watch(CertificateSigningRequests, options)) {
      const certificate = read(object);
      if (certificate !== undefined) return certificate;
    }
    return undefined;
  } finally {
    cancel();
    stop.abort();
  }
}
