import type { CertificateSigningRequest } from '../../api/index.ts';

type Decision = 'Approved' | 'Denied' | 'Failed';

/** Time of the last write of a decision; undefined if the decision was not made. */
export function decidedAt(request: CertificateSigningRequest, type: Decision): number | undefined {
  const condition = request.status?.conditions?.find((candidate) => candidate.type === type);
  return condition && Date.parse(condition.lastUpdateTime ?? '');
}

export function hasDecision(request: CertificateSigningRequest, type: Decision): boolean {
  return request.status?.conditions?.some((condition) => condition.type === type) ?? false;
}

export function isIssued(request: CertificateSigningRequest): boolean {
  return (request.status?.certificate ?? '') !== '';
}

/** Returns the PEM text of the request. */
export function requestText({ spec }: CertificateSigningRequest): string {
  return Buffer.from(spec.request, 'base64').toString('utf8');
}
