import { isJsonObject, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import { parseCsr } from '../../pki/index.ts';
import type { Authorizer, UserInfo } from '../auth/index.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

const apiServerClientSigner = 'kubernetes.io/kube-apiserver-client';
const mastersGroup = 'system:masters';

/**
 * Who may decide about certificates of a signer: approving takes the verb `approve` and issuing the verb `sign` on the
 * signer, beyond the right to write the request. Nobody becomes a master of the cluster by certificate.
 */
export function certificateSigners(authorizer: Authorizer): AdmissionStep {
  return {
    name: 'CertificateSigners',
    appliesTo: ({ target, operation }) =>
      operation !== 'DELETE' &&
      target.resource.definition.group === 'certificates.k8s.io' &&
      target.resource.definition.plural === 'certificatesigningrequests',
    validate(request) {
      const { operation, subresource, object, oldObject } = request;
      if (operation === 'CREATE') return checkSubject(request);
      if (subresource === 'approval') return checkSigner(request, authorizer, 'approve');
      if (subresource === 'status' && issues(object!, oldObject!)) return checkSigner(request, authorizer, 'sign');
    },
  };
}

function checkSigner(request: AdmissionRequest, authorizer: Authorizer, verb: 'approve' | 'sign'): void {
  // The old object says the signer: a write through these doors cannot change it.
  const signer = signerOf(request.oldObject!);
  const [domain] = signer.split('/');
  const { user } = request.caller;
  if (mayUse(authorizer, user, verb, signer) || mayUse(authorizer, user, verb, `${domain}/*`)) return;
  throw refused(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

function mayUse(authorizer: Authorizer, user: UserInfo, verb: string, name: string): boolean {
  const signers = { group: 'certificates.k8s.io', version: '*', resource: 'signers', subresource: '', namespace: '' };
  return authorizer.authorize({ user, verb, ...signers, name, path: '', resourceRequest: true }).decision === 'allow';
}

function checkSubject(request: AdmissionRequest): void | Promise<void> {
  const { object } = request;
  if (signerOf(object!) !== apiServerClientSigner) return;
  const spec = isJsonObject(object!.spec) ? object!.spec : {};
  const pem = Buffer.from(String(spec['request'] ?? ''), 'base64').toString('utf8');
  return parseCsr(pem).then(
    ({ subject }) => {
      if (!subject.organizations.includes(mastersGroup)) return;
      throw refused(request, `use of ${apiServerClientSigner} signer with ${mastersGroup} group is not allowed`);
    },
    // What cannot be read is refused by validation already, in better words.
    () => {},
  );
}

function signerOf(request: UnstructuredObject): string {
  return isJsonObject(request.spec) ? String(request.spec['signerName'] ?? '') : '';
}

function issues(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return JSON.stringify(outcomeOf(object)) !== JSON.stringify(outcomeOf(old));
}

/** What only a signer says: the certificate, or that there will be none. */
function outcomeOf(request: UnstructuredObject): unknown {
  const status = isJsonObject(request.status) ? request.status : {};
  const conditions = Array.isArray(status['conditions']) ? status['conditions'] : [];
  return [
    status['certificate'] ?? '',
    conditions.some((condition) => isJsonObject(condition) && condition['type'] === 'Failed'),
  ];
}

function refused({ target }: AdmissionRequest, text: string): Error {
  return statusError.forbidden(
    { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', name: target.name },
    text,
  );
}
