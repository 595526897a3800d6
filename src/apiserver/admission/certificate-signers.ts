import {
  deepEqual,
  errorMessage,
  fieldError,
  isJsonObject,
  type JsonValue,
  must,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { type CertificateSubject, parseCsr, signerNames } from '../../pki/index.ts';
import { type Authorizer, systemGroups, type UserInfo } from '../auth/index.ts';
import type { NamedTarget } from '../service/types.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

/**
 * Restricts who may decide about certificates of a signer. Approving needs the verb `approve` and issuing the verb
 * `sign` on the signer, besides write access to the request. It also prevents certificates for system:masters.
 */
export function certificateSigners(authorizer: Authorizer): AdmissionStep {
  return {
    name: 'CertificateSigners',
    concerns: ({ group, plural }) => group === 'certificates.k8s.io' && plural === 'certificatesigningrequests',
    operations: ['CREATE', 'UPDATE'],
    validate(request) {
      const { operation, subresource, object, oldObject } = request;
      if (operation === 'CREATE') return checkRequest(request);
      if (subresource === 'approval') return checkSigner(request, authorizer, 'approve');
      if (subresource === 'status' && statusChanges(must(object, 'object'), must(oldObject, 'oldObject')))
        return checkSigner(request, authorizer, 'sign');
    },
  };
}

function checkSigner(request: AdmissionRequest, authorizer: Authorizer, verb: 'approve' | 'sign'): void {
  // These subresources cannot change the signer, so the old object has the right one.
  const signer = signerOf(must(request.oldObject, 'request.oldObject'));
  const [domain] = signer.split('/');
  const { user } = request.caller;
  if (mayUse(authorizer, user, verb, signer) || mayUse(authorizer, user, verb, `${domain}/*`)) return;
  throw refused(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

function mayUse(authorizer: Authorizer, user: UserInfo, verb: string, name: string): boolean {
  const signers = { group: 'certificates.k8s.io', version: '*', resource: 'signers', subresource: '', namespace: '' };
  return authorizer.authorize({ user, verb, ...signers, name, path: '', resourceRequest: true }).decision === 'allow';
}

/** The sender must hold the private key of the request. Parsing verifies the signature and thereby proves it. */
async function checkRequest(request: AdmissionRequest): Promise<void> {
  const { target } = request;
  const object = must(request.object, 'object');
  const encoded = isJsonObject(object.spec) ? String(object.spec['request'] ?? '') : '';
  const { organizations } = await readSubject(encoded, target);
  if (signerOf(object) !== signerNames.apiServerClient || !organizations.includes(systemGroups.masters)) return;
  throw refused(
    request,
    `use of ${signerNames.apiServerClient} signer with ${systemGroups.masters} group is not allowed`,
  );
}

async function readSubject(encoded: string, { resource, name }: NamedTarget): Promise<CertificateSubject> {
  try {
    return (await parseCsr(Buffer.from(encoded, 'base64').toString('utf8'))).subject;
  } catch (error) {
    const { group, kind } = resource.definition;
    throw statusError.invalid(group, kind, name, [fieldError.invalid('spec.request', encoded, errorMessage(error))]);
  }
}

function signerOf(request: UnstructuredObject): string {
  return isJsonObject(request.spec) ? String(request.spec['signerName'] ?? '') : '';
}

function statusChanges(object: UnstructuredObject, old: UnstructuredObject): boolean {
  const { certificate, conditions = [] } = statusOf(object);
  const before = statusOf(old);
  return (certificate ?? '') !== (before.certificate ?? '') || !deepEqual(conditions, before.conditions ?? []);
}

function statusOf(request: UnstructuredObject): { certificate?: JsonValue; conditions?: JsonValue } {
  return isJsonObject(request.status) ? request.status : {};
}

function refused({ target }: AdmissionRequest, text: string): Error {
  return statusError.forbidden(
    { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', name: target.name },
    text,
  );
}
