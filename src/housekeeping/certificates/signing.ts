import {
  type CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  CertificateSigningRequests,
} from '../../api/index.ts';
import { must } from '../../machinery/index.ts';
import { type CertificateAndKey, parseCsr, signCsr, signerNames, signerObjection } from '../../pki/index.ts';
import { type ControllerDefinition, defineController, done } from '../../runtime/index.ts';
import { hasDecision, isIssued, requestText } from './request-state.ts';

export interface CertificateSigningOptions {
  /** signs for the built-in Kubernetes signers; the API server must trust the client certificates it issues */
  authority: CertificateAndKey;
  /** maximum validity of a certificate; default one year */
  maxValidityMs?: number;
}

const fieldManager = 'certificate-signing-controller';
const builtInSigners: ReadonlySet<string> = new Set(Object.values(signerNames));

/**
 * Signs approved certificate requests of the built-in signers. Requests whose subject or usages the signer does not
 * allow get a Failed condition with the reason. Requests of other signers are left alone.
 */
export function certificateSigningController(options: CertificateSigningOptions): ControllerDefinition {
  return defineController({
    name: 'certificate-signing',
    for: CertificateSigningRequests,
    async reconcile({ client, cache, clock, signal }, { name }) {
      const request = cache.lister(CertificateSigningRequests).get({ name });
      if (!request || !awaitsSignature(request)) return done();
      const { signerName, usages = [], expirationSeconds } = request.spec;
      const csr = await parseCsr(requestText(request));
      const objection = signerObjection(csr, usages, signerName);
      const certificate =
        objection === undefined
          ? await signCsr({
              csr,
              authority: options.authority,
              signerName,
              usages,
              ...(expirationSeconds !== undefined && { expirationSeconds }),
              ...(options.maxValidityMs !== undefined && { maxValidityMs: options.maxValidityMs }),
              clock,
            })
          : undefined;
      const status: CertificateSigningRequest['status'] =
        certificate === undefined
          ? {
              ...request.status,
              conditions: [...(request.status?.conditions ?? []), failure(must(objection, 'objection'))],
            }
          : { ...request.status, certificate: Buffer.from(certificate).toString('base64') };
      await client.update(
        CertificateSigningRequests,
        { ...request, status },
        { fieldManager, subresource: 'status', signal },
      );
      return done();
    },
  });
}

function awaitsSignature(request: CertificateSigningRequest): boolean {
  return (
    builtInSigners.has(request.spec.signerName) &&
    hasDecision(request, 'Approved') &&
    !hasDecision(request, 'Denied') &&
    !hasDecision(request, 'Failed') &&
    !isIssued(request)
  );
}

function failure(message: string): CertificateSigningRequestCondition {
  return { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message };
}
