import type { Secret } from '../../../../api/index.ts';
import type { PlannedAuthority, PlannedCredential, PlannedKey } from '../../../../hosting/index.ts';
import { formatTime } from '../../../../machinery/index.ts';
import { type CertificateAndKey, createAuthority, createServiceAccountKeyPair } from '../../../../pki/index.ts';
import { secretText } from '../../../shared/index.ts';
import { rotationOf } from '../state.ts';
import type { EnsureCredentialsOptions } from './ensure.ts';
import { AuthorityLostError, PlaneCredentialError } from './errors.ts';
import { type Keeping, newRequest } from './kept.ts';
import { everyKey, firstPublicKey, joined, secretShape } from './leaf.ts';
import { storedPair } from './stored.ts';

/** Annotation of Kamaji's Secrets. An empty value requests a rotation; the time in it confirms one. */
export const rotateAnnotation = 'certs.kamaji.clastix.io/rotate';

/** A CA during one reconcile. */
export interface LivingAuthority {
  /** PEM; nothing can be signed without the key */
  readonly pair: { readonly certificate: string; readonly privateKey?: string };
  /** PEM of all trusted CAs, the current one first */
  readonly trust: string;
  /** certificate of the current CA signed by the previous one, for clients that trust only that */
  readonly cross?: string;
}

export const secretOf = (options: EnsureCredentialsOptions, { place }: PlannedCredential): Secret | undefined =>
  options.read({ namespace: options.namespace, name: place.name });

/** Reads a rotation request from the annotation of a Secret. */
export function rotationRequest(options: EnsureCredentialsOptions, planned: PlannedCredential): string | undefined {
  const secret = secretOf(options, planned);
  return secret?.metadata.annotations?.[rotateAnnotation] === '' && !planned.external
    ? `annotation of Secret ${planned.place.name} ${secret.metadata.resourceVersion ?? ''}`
    : undefined;
}

/** Returns the CA from its Secret or the kept copy; creates one only if nobody relies on a lost one. */
export async function ensureAuthority(
  options: EnsureCredentialsOptions,
  planned: PlannedAuthority,
  keeping: Keeping,
): Promise<LivingAuthority> {
  const { state, drafts } = options;
  const { place } = planned;
  if (planned.external) return broughtAuthority(options, planned);
  const { record, next, old, cross } = rotationOf(state, planned.name);
  const inUse =
    (record.phase === 'switched' ? next : undefined) ??
    found(options, planned, keeping) ??
    (await beginAuthority(options, planned, keeping));
  keeping.pairs[planned.name] = { certificate: inUse.certificate, privateKey: inUse.privateKey };
  const beside = record.phase === 'introduced' ? next?.certificate : record.phase === 'switched' ? old : undefined;
  const trust = joined([inUse.certificate, beside]);
  drafts.put(place.name, {
    ...secretShape(planned),
    data: {
      ...everyKey(place.certificate, inUse.certificate),
      ...everyKey(place.privateKey, inUse.privateKey),
      ...everyKey(place.bundle, trust),
    },
    ...answeredRequest(options, planned),
  });
  if (planned.repeatedIn) {
    const { name, current, old: oldKey, all } = planned.repeatedIn;
    const data = { [current]: inUse.certificate, [oldKey]: beside ?? '', [all]: trust };
    drafts.put(name, { labels: planned.labels, data });
  }
  return { pair: inUse, trust, ...(cross !== undefined && { cross }) };
}

function broughtAuthority(options: EnsureCredentialsOptions, planned: PlannedAuthority): LivingAuthority {
  const { place } = planned;
  const secret = secretOf(options, planned);
  const stored = storedPair(planned, secret);
  const certificate = stored?.certificate ?? place.certificate.map((name) => secretText(secret, name)).find(Boolean);
  if (certificate === undefined) {
    throw new PlaneCredentialError(
      { namespace: options.namespace, name: place.name },
      'holds no certificate authority',
      `put ${place.certificate[0]} and ${place.privateKey[0]} there`,
    );
  }
  return { pair: { certificate, ...(stored && { privateKey: stored.privateKey }) }, trust: certificate };
}

/** Returns the pair in the Secret, otherwise the kept copy. */
function found(
  options: EnsureCredentialsOptions,
  planned: PlannedAuthority | PlannedKey,
  keeping: Keeping,
): CertificateAndKey | undefined {
  const { place } = planned;
  const secret = secretOf(options, planned);
  const stored = storedPair(planned, secret);
  if (stored) return stored;
  const kept = options.state.kept?.[planned.name];
  if (planned.kind === 'authority' && (secretText(secret, place.certificate[0] ?? '') ?? '') !== '') {
    // machines and kubeconfigs may trust the lost CA; a new one would lock them out
    throw new PlaneCredentialError(
      { namespace: options.namespace, name: place.name },
      'holds a certificate authority that cannot be used',
      kept ? 'delete it, and the one in use comes back' : 'put it back from a backup',
    );
  }
  if (kept) keeping.putBack.push(place.name);
  return kept;
}

async function beginAuthority(
  options: EnsureCredentialsOptions,
  planned: PlannedAuthority,
  keeping: Keeping,
): Promise<CertificateAndKey> {
  const { namespace, clock, state, losses } = options;
  const { name, place, commonName, algorithm, durationMs } = planned;
  const cure = losses.cure(name);
  if (cure !== undefined) {
    const request = newRequest(state, losses, name);
    if (request === undefined) throw new AuthorityLostError({ namespace, name: place.name }, cure);
    keeping.begun.push({ name, secret: place.name, request });
  }
  // no pathlen: a cross-signed successor must be valid below it
  return await createAuthority({ commonName, clock, algorithm, validityMs: durationMs });
}

/** Ensures the service account key pair. A lost one is replaced, because kubelets fetch new tokens. */
export async function ensureServiceAccountKey(
  options: EnsureCredentialsOptions,
  planned: PlannedKey,
  keeping: Keeping,
): Promise<void> {
  const { namespace, state, drafts } = options;
  const { place } = planned;
  if (planned.external) {
    if (storedPair(planned, secretOf(options, planned))) return;
    throw new PlaneCredentialError(
      { namespace, name: place.name },
      'holds no pair of keys',
      `put ${place.certificate[0]} and ${place.privateKey[0]} there`,
    );
  }
  const { record, next, old } = rotationOf(state, 'sa');
  let inUse = (record.phase === 'switched' ? next : undefined) ?? found(options, planned, keeping);
  if (inUse) inUse = { ...inUse, certificate: firstPublicKey(inUse.certificate) };
  else {
    const made = await createServiceAccountKeyPair(planned.algorithm);
    inUse = { certificate: made.publicKey, privateKey: made.privateKey };
  }
  keeping.pairs.sa = inUse;
  const beside = record.phase === 'introduced' ? next?.certificate : record.phase === 'switched' ? old : undefined;
  drafts.put(place.name, {
    ...secretShape(planned),
    data: {
      ...everyKey(place.certificate, joined([inUse.certificate, beside])),
      ...everyKey(place.privateKey, inUse.privateKey),
      ...everyKey(place.bundle, joined([inUse.certificate, beside])),
    },
    ...answeredRequest(options, planned),
  });
}

/** Confirms the request on the Secret once the rotation has started. */
function answeredRequest(
  options: EnsureCredentialsOptions,
  planned: PlannedAuthority | PlannedKey,
): { annotations?: Readonly<Record<string, string>> } {
  const isUnderWay = rotationOf(options.state, planned.name).record.phase !== 'stable';
  return isUnderWay && rotationRequest(options, planned) !== undefined
    ? { annotations: { ...planned.annotations, [rotateAnnotation]: formatTime(options.clock.now()) } }
    : {};
}
