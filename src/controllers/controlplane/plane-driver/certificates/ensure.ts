import { type Secret, Secrets } from '../../../../api/index.ts';
import type { Client, ObjectKey } from '../../../../client/index.ts';
import {
  type AuthorityName,
  type CertificatePlan,
  type CredentialName,
  dueRenewals,
  type ExternalAuthority,
  nextRenewal,
  type ObservedCredential,
  type PlannedCertificate,
  type PlannedCredential,
  type PlannedKubeconfig,
  type Renewal,
} from '../../../../hosting/index.ts';
import { type Clock, formatTime, ignoreNotFound } from '../../../../machinery/index.ts';
import { type CertificateAndKey, parseCertificate } from '../../../../pki/index.ts';
import { secretText } from '../../../shared/index.ts';
import type { SecretDrafts } from '../secret-drafts.ts';
import type { PlaneState } from '../state.ts';
import type { CertificateReport } from '../types.ts';
import {
  ensureAuthority,
  ensureServiceAccountKey,
  type LivingAuthority,
  rotateAnnotation,
  rotationRequest,
  secretOf,
} from './authorities.ts';
import { PlaneCredentialError } from './errors.ts';
import type { Keeping, Losses } from './kept.ts';
import { makeLeaf } from './leaf.ts';
import { observeLeaf, type Vouching } from './stored.ts';

/** Parsed leaf certificates, valid while Secret and signer are unchanged. Saves parsing. */
export type CredentialMemory = Map<
  CredentialName,
  { readonly stamp: string; readonly observed: ObservedCredential | undefined }
>;

export interface EnsureCredentialsOptions {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  namespace: string;
  plan: CertificatePlan;
  state: PlaneState;
  read(key: ObjectKey): Secret | undefined;
  drafts: SecretDrafts;
  memory: CredentialMemory;
  losses: Losses;
}

export interface EnsuredCredentials {
  readonly authorities: ReadonlyMap<AuthorityName, LivingAuthority>;
  /** existing credentials, parsed */
  readonly observed: ReadonlyMap<CredentialName, ObservedCredential>;
  /** credentials created in this reconcile */
  readonly renewed: readonly Renewal[];
  /** stores written Secrets in the memory, so that they need not be parsed again */
  rememberWritten(written: ReadonlyMap<string, Secret>): void;
  readonly reports: readonly CertificateReport[];
  /** next time-based renewal */
  readonly nextMs: number | undefined;
  /** rotations requested on Secrets: CA or key -> id of the request */
  readonly asked: ReadonlyMap<AuthorityName | 'sa', string>;
  /** pairs to keep a copy of, and restores of this reconcile */
  readonly keeping: Keeping;
}

/**
 * Ensures all credentials of the plan: reads existing ones, creates those that are missing or due. The rotation state
 * determines which CA signs and which are trusted. Changes only the drafts; the caller writes them.
 */
export async function ensureCredentials(options: EnsureCredentialsOptions): Promise<EnsuredCredentials> {
  const { plan, clock, drafts } = options;
  const authorities = new Map<AuthorityName, LivingAuthority>();
  const observed = new Map<CredentialName, ObservedCredential>();
  const asked = new Map<AuthorityName | 'sa', string>();
  const keeping: Keeping = { pairs: {}, putBack: [], begun: [] };
  for (const planned of plan) {
    if (planned.kind === 'authority') {
      const authority = await ensureAuthority(options, planned, keeping);
      authorities.set(planned.name, authority);
      observed.set(planned.name, observedAuthority(options, planned.name, authority));
    } else if (planned.kind === 'key') await ensureServiceAccountKey(options, planned, keeping);
    const desired = rotationRequest(options, planned);
    if (desired !== undefined && (planned.kind === 'authority' || planned.kind === 'key'))
      asked.set(planned.name, desired);
  }
  const leaves = plan.filter((planned) => planned.kind === 'certificate' || planned.kind === 'kubeconfig');
  const vouchings = new Map<PlannedCredential, Vouching & { signer: CertificateAndKey }>();
  const wanted = new Set<CredentialName>();
  for (const planned of leaves) {
    const vouching = await vouchingFor(options, planned, authorities);
    vouchings.set(planned, vouching);
    const seen = observeOnce(options, planned, vouching);
    if (planned.external) checkBrought(options, planned, seen);
    if (rotationRequest(options, planned) !== undefined) wanted.add(planned.name);
    else if (seen) observed.set(planned.name, seen);
  }
  const renewed = dueRenewals(leaves, observed, clock.now());
  for (const { credential } of renewed) {
    const vouching = vouchings.get(credential);
    if (!vouching || (credential.kind !== 'certificate' && credential.kind !== 'kubeconfig')) continue;
    const made = await makeLeaf(options, credential, vouching);
    observed.set(credential.name, made);
    if (wanted.has(credential.name)) {
      drafts.put(credential.place.name, { annotations: { [rotateAnnotation]: formatTime(clock.now()) }, data: {} });
    }
  }
  return {
    authorities,
    observed,
    renewed,
    rememberWritten(written) {
      for (const { credential } of renewed) {
        const secret = written.get(credential.place.name);
        const vouching = vouchings.get(credential);
        const made = observed.get(credential.name);
        if (secret && vouching && made)
          options.memory.set(credential.name, { stamp: stampOf(secret, vouching), observed: made });
      }
    },
    reports: reportsOf(plan, observed),
    nextMs: nextRenewal(plan, observed),
    asked,
    keeping,
  };
}

async function vouchingFor(
  options: EnsureCredentialsOptions,
  planned: PlannedCertificate | PlannedKubeconfig,
  authorities: ReadonlyMap<AuthorityName, LivingAuthority>,
): Promise<Vouching & { signer: CertificateAndKey }> {
  const { signer } = planned;
  if (typeof signer !== 'string') {
    const pair = await foreignAuthority(options, signer);
    return { authority: pair.certificate, trust: pair.certificate, signer: pair };
  }
  const authority = authorities.get(signer);
  if (!authority) throw new TypeError(`the plan has no authority ${signer} for ${planned.name}`);
  const isServing = planned.kind === 'certificate' && planned.usages.includes('server');
  return {
    authority: authority.pair.certificate,
    trust: authority.trust,
    signer: { certificate: authority.pair.certificate, privateKey: authority.pair.privateKey ?? '' },
    ...(isServing && authority.cross !== undefined && { chain: authority.cross }),
  };
}

async function foreignAuthority(
  options: EnsureCredentialsOptions,
  where: ExternalAuthority,
): Promise<CertificateAndKey> {
  const key = { namespace: where.secretNamespace, name: where.secretName };
  const { signal } = options;
  const secret = options.read(key) ?? (await options.client.get(Secrets, key, { signal }).catch(ignoreNotFound));
  const certificate = secretText(secret, where.certificateKey);
  const privateKey = secretText(secret, where.privateKeyKey);
  if (certificate !== undefined && privateKey !== undefined) return { certificate, privateKey };
  throw new PlaneCredentialError(
    key,
    secret ? 'holds no certificate authority' : 'does not exist',
    `it needs ${where.certificateKey} and ${where.privateKeyKey}`,
  );
}

function observeOnce(
  options: EnsureCredentialsOptions,
  planned: PlannedCertificate | PlannedKubeconfig,
  vouching: Vouching,
): ObservedCredential | undefined {
  const secret = secretOf(options, planned);
  const stamp = stampOf(secret, vouching);
  const known = options.memory.get(planned.name);
  if (known?.stamp === stamp) return known.observed;
  const observed = observeLeaf(planned, secret, vouching);
  options.memory.set(planned.name, { stamp, observed });
  return observed;
}

const stampOf = (secret: Secret | undefined, { trust, chain = '' }: Vouching): string =>
  `${secret?.metadata.uid ?? ''} ${secret?.metadata.resourceVersion ?? ''} ${trust}${chain}`;

function checkBrought(
  options: EnsureCredentialsOptions,
  planned: PlannedCredential,
  seen: ObservedCredential | undefined,
): void {
  const key = { namespace: options.namespace, name: planned.place.name };
  if (!seen) throw new PlaneCredentialError(key, `holds no usable ${planned.name}`, 'replace its contents');
  if (options.clock.now() >= seen.notAfter) {
    throw new PlaneCredentialError(key, `holds a certificate that ended at ${formatTime(seen.notAfter)}`, 'renew it');
  }
}

function observedAuthority(
  { memory }: EnsureCredentialsOptions,
  name: AuthorityName,
  { pair, trust }: LivingAuthority,
): ObservedCredential {
  const known = memory.get(name);
  if (known?.stamp === trust && known.observed) return known.observed;
  const { notBefore, notAfter, subject } = parseCertificate(pair.certificate);
  const observed = {
    notBefore,
    notAfter,
    commonName: subject.commonName,
    organizations: subject.organizations,
    hosts: [],
    signedByCurrent: true,
    trustsAll: trust !== '',
  };
  memory.set(name, { stamp: trust, observed });
  return observed;
}

function reportsOf(
  plan: CertificatePlan,
  observed: ReadonlyMap<CredentialName, ObservedCredential>,
): CertificateReport[] {
  const reports: CertificateReport[] = [];
  for (const { name, place } of plan) {
    const seen = observed.get(name);
    if (seen) reports.push({ credential: name, secret: place.name, expiresAt: seen.notAfter });
  }
  return reports;
}
