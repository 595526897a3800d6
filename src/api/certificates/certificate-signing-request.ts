import { X509Certificate } from 'node:crypto';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  deepEqual,
  type FieldError,
  fieldError,
  formatTime,
  humanDuration,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
  type StrategyContext,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { notSupported, validateRequiredText } from '../common/validation.ts';

export interface CertificateSigningRequestCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

/** A request for a certificate, approved and signed by other components. */
export interface CertificateSigningRequest extends KubeObject {
  spec: {
    /** base64 of a PEM certificate request */
    request: string;
    signerName: string;
    expirationSeconds?: number;
    usages?: string[];
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
  };
  status?: {
    conditions?: CertificateSigningRequestCondition[];
    /** base64 of a PEM certificate chain */
    certificate?: string;
  };
}

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

function validateRequest(request: string): FieldError[] {
  const pem = Buffer.from(request ?? '', 'base64').toString('latin1');
  const found = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/.exec(pem);
  return found?.[1] === 'CERTIFICATE REQUEST'
    ? []
    : [fieldError.invalid('spec.request', request ?? '', 'PEM block type must be CERTIFICATE REQUEST')];
}

function validateSignerName(name: string | undefined): FieldError[] {
  const path = 'spec.signerName';
  if (!name) return validateRequiredText(name, path);
  const segments = name.split('/');
  if (segments.length !== 2) {
    const text = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [fieldError.invalid(path, name, text)];
  }
  const [domain = '', signer = ''] = segments;
  const errors: FieldError[] = [];
  const labels = domain.split('.');
  const bad = labels.find((label) => checkDns1123Label(label).length > 0);
  if (bad !== undefined) {
    for (const text of checkDns1123Label(bad)) {
      errors.push(fieldError.invalid(path, domain, `validating label "${bad}": ${text}`));
    }
  }
  if (labels.length < 2) {
    errors.push(fieldError.invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  }
  const badPart = signer.split('.').find((part) => checkDns1123Subdomain(part).length > 0);
  if (badPart !== undefined) {
    for (const text of checkDns1123Subdomain(badPart)) {
      errors.push(fieldError.invalid(path, signer, `validating label "${badPart}": ${text}`));
    }
  }
  return errors;
}

/** Endpoint of a write. Each subresource may change only its part of the status. */
type Door = 'approval' | 'status' | undefined;

const outcomes = ['Approved', 'Denied', 'Failed'];
const decisions = ['Approved', 'Denied'];

function validateConditions(conditions: readonly CertificateSigningRequestCondition[]): FieldError[] {
  const errors: FieldError[] = [];
  const path = 'status.conditions';
  const seen = new Set<string>();
  for (const [index, { type, status }] of conditions.entries()) {
    if (!type) errors.push(fieldError.required(`${path}[${index}].type`));
    const allowed = outcomes.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (!status) errors.push(fieldError.required(`${path}[${index}].status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${path}[${index}].status`, status, allowed));
    if ((type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved'))) {
      errors.push(fieldError.invalid(path, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type)) errors.push(fieldError.duplicate(`${path}[${index}].type`, type));
    seen.add(type);
  }
  return errors;
}

/** Accepts PEM certificates only. Whether they match the request is left to the client. */
function validateCertificate(certificate: string | undefined): FieldError[] {
  if (!certificate) return [];
  const invalid = (text: string): FieldError[] => [
    fieldError.invalid('status.certificate', '<certificate data>', text),
  ];
  const pem = Buffer.from(certificate, 'base64').toString('latin1');
  const blocks = [...pem.matchAll(/^-----BEGIN ([^\n]*)-----\s*$([\s\S]*?)^-----END \1-----\s*$/gm)];
  if (blocks.length === 0) return invalid('must contain at least one CERTIFICATE PEM block');
  for (const [text, label = '', body = ''] of blocks) {
    if (label !== 'CERTIFICATE') {
      return invalid(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`);
    }
    if (body.includes(':')) return invalid('no PEM block headers are permitted');
    try {
      new X509Certificate(text);
    } catch {
      return invalid('x509: malformed certificate');
    }
  }
  return [];
}

function validateCreate(csr: CertificateSigningRequest): FieldError[] {
  const { request, usages: wanted = [], signerName, expirationSeconds } = csr.spec;
  const errors = validateRequest(request);
  if (wanted.length === 0) errors.push(fieldError.required('spec.usages'));
  for (const [index, usage] of wanted.entries()) {
    if (!usages.includes(usage)) errors.push(notSupported(`spec.usages[${index}]`, usage, usages));
    if (wanted.indexOf(usage) < index) errors.push(fieldError.duplicate(`spec.usages[${index}]`, usage));
  }
  if (signerName === 'kubernetes.io/legacy-unknown') {
    const text = 'the legacy signerName is not allowed via this API version';
    errors.push(fieldError.invalid('spec.signerName', signerName, text));
  } else errors.push(...validateSignerName(signerName));
  if (expirationSeconds !== undefined && expirationSeconds < 600) {
    const text = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(fieldError.invalid('spec.expirationSeconds', expirationSeconds, text));
  }
  return errors;
}

function conditionsOf(csr: CertificateSigningRequest, type: string): CertificateSigningRequestCondition[] {
  return (csr.status?.conditions ?? []).filter((condition) => condition.type === type);
}

/**
 * Decisions cannot be revoked. Only the approval subresource writes decisions, and only the status subresource writes
 * certificates.
 */
function validateUpdate(
  csr: CertificateSigningRequest,
  old: CertificateSigningRequest,
  { subresource }: Pick<StrategyContext, 'subresource'>,
): FieldError[] {
  const path = 'status.conditions';
  const door = subresource as Door;
  const errors = validateConditions(csr.status?.conditions ?? []);
  const before = old.status?.certificate ?? '';
  const certificate = csr.status?.certificate ?? '';
  if (certificate !== before) errors.push(...validateCertificate(certificate));
  for (const type of outcomes) {
    if (conditionsOf(csr, type).length < conditionsOf(old, type).length) {
      errors.push(fieldError.forbidden(path, `updates may not remove a condition of type "${type}"`));
    }
  }
  for (const type of door === 'approval' ? [] : decisions) {
    const next = conditionsOf(csr, type);
    const known = conditionsOf(old, type);
    if (next.length > known.length) {
      errors.push(fieldError.forbidden(path, `updates may not add a condition of type "${type}"`));
    } else if (next.length === known.length && !deepEqual(next, known)) {
      errors.push(fieldError.forbidden(path, `updates may not modify a condition of type "${type}"`));
    }
  }
  if (certificate !== before) {
    if (door !== 'status') {
      errors.push(fieldError.forbidden('status.certificate', 'updates may not set certificate content'));
    } else if (before !== '') {
      errors.push(fieldError.forbidden('status.certificate', 'updates may not modify existing certificate content'));
    }
  }
  return errors;
}

/** Stamps new conditions with the current time. Writes to the status subresource keep the existing decisions. */
function prepareConditions(
  draft: CertificateSigningRequest,
  old: CertificateSigningRequest,
  context: StrategyContext,
): void {
  const conditions = draft.status?.conditions ?? [];
  for (const type of context.subresource === 'status' ? decisions : []) {
    const decided = conditionsOf(old, type);
    if (conditionsOf(draft, type).length !== decided.length) continue;
    for (const [index, condition] of conditions.entries()) {
      if (condition.type === type) conditions[index] = { ...(decided.shift() ?? condition) };
    }
  }
  const now = formatTime(context.nowMs);
  for (const condition of conditions) {
    setDefault(condition, 'lastUpdateTime', now);
    const before = old.status?.conditions?.find(
      (candidate) => candidate.type === condition.type && candidate.status === condition.status,
    );
    setDefault(condition, 'lastTransitionTime', before?.lastTransitionTime ?? now);
  }
  if (conditions.length === 0) delete draft.status?.conditions;
}

function conditionWords(csr: CertificateSigningRequest): string {
  const types = new Set((csr.status?.conditions ?? []).map((condition) => condition.type));
  const words = [types.has('Denied') ? 'Denied' : types.has('Approved') ? 'Approved' : 'Pending'];
  if (types.has('Failed')) words.push('Failed');
  if (csr.status?.certificate) words.push('Issued');
  return words.join(',');
}

export const certificateSigningRequestDefinition: ResourceDefinition = defineBuiltin<CertificateSigningRequest>({
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  shortNames: ['csr'],
  namespaced: false,
  component: 'io.k8s.api.certificates.v1.CertificateSigningRequest',
  hasStatus: true,
  subresources: [
    {
      name: 'approval',
      verbs: ['get', 'patch', 'update'],
      group: 'certificates.k8s.io',
      version: 'v1',
      kind: 'CertificateSigningRequest',
    },
  ],
  noGeneration: true,
  columns: [
    nameColumn,
    ageColumn,
    column('SignerName'),
    column('Requestor'),
    column('RequestedDuration'),
    column('Condition'),
  ],
  row(csr, nowMs) {
    const seconds = csr.spec.expirationSeconds;
    return [
      csr.metadata.name ?? '',
      age(csr, nowMs),
      csr.spec.signerName || '<none>',
      csr.spec.username ?? '',
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
      conditionWords(csr),
    ];
  },
  selectableFields: { 'spec.signerName': (csr) => csr.spec.signerName ?? '' },
  applyDefaults(csr) {
    setDefault(csr, 'spec', { request: '', signerName: '' });
    setDefault(csr, 'status', {});
  },
  prepareForCreate(csr, context) {
    const { uid: _uid, extra: _extra, ...spec } = csr.spec;
    csr.spec = {
      ...spec,
      username: context.user,
      groups: [...(context.groups ?? [])],
      ...(context.userUid && { uid: context.userUid }),
      ...(context.extra && {
        extra: Object.fromEntries(Object.entries(context.extra).map(([key, values]) => [key, [...values]])),
      }),
    };
    if (csr.spec.groups?.length === 0) delete csr.spec.groups;
    csr.status = {};
  },
  prepareForUpdate(csr, old) {
    csr.spec = old.spec;
  },
  prepareForStatusUpdate: prepareConditions,
  validateName: () => [],
  validateCreate,
  validateUpdate,
  validateStatusUpdate: validateUpdate,
});

export const CertificateSigningRequests: Resource<CertificateSigningRequest> = resourceOf<CertificateSigningRequest>(
  certificateSigningRequestDefinition,
);
