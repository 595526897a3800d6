import { type CertificateSigningRequest, CertificateSigningRequests } from '../../api/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import { parseCertificate } from '../../pki/index.ts';
import { after, type ControllerDefinition, defineController, done } from '../../runtime/index.ts';
import { decidedAt, isIssued } from './request-state.ts';

const hour = 60 * 60 * 1000;
const decidedForMs = hour;
const undecidedForMs = 24 * hour;

/** Deletes certificate requests one hour after a decision, and undecided ones after one day. */
export function certificateCleaner(): ControllerDefinition {
  return defineController({
    name: 'certificate-cleaner',
    for: CertificateSigningRequests,
    async reconcile({ client, cache, clock, signal }, { name }) {
      const request = cache.lister(CertificateSigningRequests).get({ name });
      const endMs = request && endOf(request);
      if (endMs === undefined) return done();
      const leftMs = endMs - clock.now();
      if (leftMs > 0) return after(leftMs, 'the end of an old certificate request');
      const uid = request?.metadata.uid;
      await client
        .delete(CertificateSigningRequests, { name }, { ...(uid !== undefined && { preconditions: { uid } }), signal })
        .catch(ignoreNotFound);
      return done();
    },
  });
}

/** Time at which a request may be deleted; undefined while it waits for its signer. */
function endOf(request: CertificateSigningRequest): number | undefined {
  const ends = [decidedAt(request, 'Denied'), decidedAt(request, 'Failed')].map((at) => at && at + decidedForMs);
  if (isIssued(request)) {
    const approvedAt = decidedAt(request, 'Approved');
    if (approvedAt !== undefined) ends.push(approvedAt + decidedForMs, certificateEnd(request));
  }
  if ((request.status?.conditions ?? []).length === 0) {
    ends.push(Date.parse(request.metadata.creationTimestamp ?? '') + undecidedForMs);
  }
  const known = ends.filter((end) => end !== undefined && !Number.isNaN(end)) as number[];
  return known.length === 0 ? undefined : Math.min(...known);
}

function certificateEnd({ status }: CertificateSigningRequest): number | undefined {
  try {
    return parseCertificate(Buffer.from(status?.certificate ?? '', 'base64').toString('utf8')).notAfter;
  } catch {
    // The certificate is missing or in a format of another signer. Only the time of the approval counts then.
    return undefined;
  }
}
