import {
  type CertificateSigningRequest,
  CertificateSigningRequests,
  type SubjectAccessReview,
  SubjectAccessReviews,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { parseCsr, signerNames, signerObjection } from '../../pki/index.ts';
import { after, type ControllerDefinition, defineController, done } from '../../runtime/index.ts';
import { hasDecision, isIssued, requestText } from './request-state.ts';

const fieldManager = 'certificate-approval-controller';
const minute = 60_000;

/** A kubelet request that is approved without a person. RBAC decides who may use which subresource. */
interface Permission {
  subresource: 'selfnodeclient' | 'nodeclient';
  message: string;
}

const ownName: Permission = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const anyNode: Permission = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

/**
 * Approves client certificates of kubelets, for joining nodes and for renewals, if RBAC allows the requester to ask for
 * them.
 */
export function certificateApprovalController(): ControllerDefinition {
  return defineController({
    name: 'certificate-approval',
    for: CertificateSigningRequests,
    async reconcile({ client, cache, clock, signal }, { name }) {
      const request = cache.lister(CertificateSigningRequests).get({ name });
      if (!request || !awaitsDecision(request)) return done();
      const permissions = await permissionsFor(request);
      for (const { subresource, message } of permissions) {
        if (!(await isAllowed(client, request, subresource, signal))) continue;
        const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
        const conditions = [...(request.status?.conditions ?? []), condition];
        await client.update(
          CertificateSigningRequests,
          { ...request, status: { ...request.status, conditions } },
          { fieldManager, subresource: 'approval', signal },
        );
        return done();
      }
      if (permissions.length === 0) return done();
      // The right may be granted later, or never. The check repeats with growing intervals.
      const ageMs = clock.now() - Date.parse(request.metadata.creationTimestamp ?? '');
      return after(Math.min(Math.max(ageMs, 1000), 15 * minute), 'leave to ask for a kubelet certificate');
    },
  });
}

function awaitsDecision(request: CertificateSigningRequest): boolean {
  return !isIssued(request) && !hasDecision(request, 'Approved') && !hasDecision(request, 'Denied');
}

async function permissionsFor(request: CertificateSigningRequest): Promise<Permission[]> {
  const { signerName, usages = [], username } = request.spec;
  if (signerName !== signerNames.apiServerClientKubelet) return [];
  const csr = await parseCsr(requestText(request));
  if (signerObjection(csr, usages, signerName) !== undefined) return [];
  return csr.subject.commonName === username ? [ownName, anyNode] : [anyNode];
}

async function isAllowed(
  client: Client,
  { spec }: CertificateSigningRequest,
  subresource: Permission['subresource'],
  signal: AbortSignal,
): Promise<boolean> {
  const { username, uid, groups, extra } = spec;
  const question: SubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      ...(username !== undefined && { user: username }),
      ...(uid !== undefined && { uid }),
      ...(groups && { groups }),
      ...(extra && { extra }),
      resourceAttributes: {
        group: 'certificates.k8s.io',
        version: '*',
        resource: 'certificatesigningrequests',
        subresource,
        verb: 'create',
      },
    },
  };
  const answer = await client.create(SubjectAccessReviews, question, { fieldManager, signal });
  return answer.status?.allowed === true;
}
