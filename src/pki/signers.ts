import type { ParsedCsr } from './csr.ts';

/** The built-in signers of Kubernetes. */
export const signerNames = {
  apiServerClient: 'kubernetes.io/kube-apiserver-client',
  apiServerClientKubelet: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  legacyUnknown: 'kubernetes.io/legacy-unknown',
} as const;

function sameSet(usages: readonly string[], wanted: readonly string[]): boolean {
  const set = new Set(usages);
  return set.size === wanted.length && wanted.every((usage) => set.has(usage));
}

/** Key encipherment applies to RSA keys only, so two sets are accepted. */
function nodeUsages(usages: readonly string[], purpose: 'client auth' | 'server auth'): string | undefined {
  const full = ['digital signature', 'key encipherment', purpose];
  if (sameSet(usages, full) || sameSet(usages, ['digital signature', purpose])) return undefined;
  return `usages did not match [${[...full].sort().join(' ')}]`;
}

function nodeOrganization(csr: ParsedCsr): string | undefined {
  const { organizations } = csr.subject;
  return organizations.length === 1 && organizations[0] === 'system:nodes'
    ? undefined
    : 'subject organization is not system:nodes';
}

function nodeCommonName(csr: ParsedCsr): string | undefined {
  return csr.subject.commonName.startsWith('system:node:')
    ? undefined
    : 'subject common name does not begin with system:node:';
}

function clientUsages(usages: readonly string[]): string | undefined {
  const odd = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage));
  if (odd !== undefined) return `invalid usage for client certificate: ${odd}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}

/**
 * Reason why a signer must refuse a request, in kube-controller-manager's words for the `SignerValidationFailure`
 * condition; undefined if it may sign. Signers that are not built in return `unknown signer`.
 */
export function signerObjection(csr: ParsedCsr, usages: readonly string[], signerName: string): string | undefined {
  switch (signerName) {
    case signerNames.apiServerClient:
      return clientUsages(usages);
    case signerNames.apiServerClientKubelet:
      return (
        nodeOrganization(csr) ??
        (csr.dnsNames.length > 0 ? 'DNS subjectAltNames are not allowed' : undefined) ??
        (csr.emailAddresses.length > 0 ? 'Email subjectAltNames are not allowed' : undefined) ??
        (csr.ipAddresses.length > 0 ? 'IP subjectAltNames are not allowed' : undefined) ??
        (csr.uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined) ??
        nodeCommonName(csr) ??
        nodeUsages(usages, 'client auth')
      );
    case signerNames.kubeletServing:
      return (
        nodeOrganization(csr) ??
        (csr.dnsNames.length + csr.ipAddresses.length === 0 ? 'DNS or IP subjectAltName is required' : undefined) ??
        (csr.emailAddresses.length > 0 ? 'Email subjectAltNames are not allowed' : undefined) ??
        (csr.uris.length > 0 ? 'URI subjectAltNames are not allowed' : undefined) ??
        nodeUsages(usages, 'server auth') ??
        nodeCommonName(csr)
      );
    case signerNames.legacyUnknown:
      return undefined;
    default:
      return `unrecognized signerName: ${JSON.stringify(signerName)}`;
  }
}
