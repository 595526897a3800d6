import {
  type CertificatePlan,
  type PlannedAuthority,
  type PlannedKey,
  type Rotatable,
  rotationStep,
} from '../../../../hosting/index.ts';
import type { Clock } from '../../../../machinery/index.ts';
import {
  type CertificateAndKey,
  createAuthority,
  createServiceAccountKeyPair,
  crossSignAuthority,
  parseCertificate,
  splitCertificates,
} from '../../../../pki/index.ts';
import { type PlaneState, type RotationEntry, rotationOf, withRotation } from '../state.ts';
import type { RotationRequest } from '../types.ts';
import type { EnsuredCredentials } from './ensure.ts';

const dayMs = 24 * 3_600_000;
/** Kubelets renew service account tokens within an hour; clients that read them only once get longer. */
const tokenOverlapMs = dayMs;
/** Kubelet certificates are valid for a year. */
const nodeOverlapMs = 365 * dayMs;

export interface RotationInput {
  plan: CertificatePlan;
  state: PlaneState;
  credentials: EnsuredCredentials;
  requests: readonly RotationRequest[];
  /** all Pods run with the current Secrets, and the workload cluster publishes the new CA */
  isRolledOut: boolean;
  /** kubelets that may present certificates of the previous CA; undefined if unknown */
  holders: number | undefined;
  clock: Clock;
  /** stored `sa` key pair */
  serviceAccountKey: CertificateAndKey | undefined;
}

export interface RotationOutcome {
  /** the same object if nothing has to be written */
  state: PlaneState;
  /** descriptions of running rotations */
  messages: string[];
  nextMs: number | undefined;
}

/** Advances every rotation by at most one step. The caller writes the state before it acts on it. */
export async function rotate(input: RotationInput): Promise<RotationOutcome> {
  let { state } = input;
  const messages: string[] = [];
  let nextMs: number | undefined;
  for (const planned of input.plan) {
    if ((planned.kind !== 'authority' && planned.kind !== 'key') || planned.external) continue;
    const entry = rotationOf(state, planned.name);
    const now = input.clock.now();
    const request = requestFor(input, planned, now);
    const oldEnd =
      planned.kind === 'authority' && entry.old !== undefined ? parseCertificate(entry.old).notAfter : undefined;
    const step = rotationStep({
      record: entry.record,
      now,
      trustedEverywhere: input.isRolledOut,
      leavesReplaced: input.isRolledOut && input.credentials.renewed.length === 0,
      holdouts: 0,
      overlapMs: overlapOf(planned.name, input.holders),
      ...(request !== undefined && { request }),
      ...(oldEnd !== undefined && { oldNotAfter: oldEnd }),
    });
    switch (step.kind) {
      case 'none':
        break;
      case 'wait':
        messages.push(`${planned.name}: ${step.message}`);
        if (step.until !== undefined && (nextMs === undefined || step.until < nextMs)) nextMs = step.until;
        break;
      case 'introduce':
        state = withRotation(state, planned.name, await introduced(input, planned, entry, step.record));
        messages.push(`${planned.name}: the next one is made known`);
        break;
      case 'switch':
        state = withRotation(state, planned.name, switched(input, planned, entry, step.record));
        messages.push(`${planned.name}: the next one is taken into use`);
        break;
      case 'settle':
        state = withRotation(state, planned.name, { ...entry, record: step.record });
        messages.push(`${planned.name}: everything is signed by the new one`);
        break;
      case 'retire': {
        const { next: _, old: __, ...rest } = entry;
        state = withRotation(state, planned.name, { ...rest, record: step.record });
        messages.push(`${planned.name}: the old one is trusted no longer`);
        break;
      }
    }
  }
  return { state, messages, nextMs };
}

function overlapOf(name: Rotatable, holders: number | undefined): number {
  if (name === 'sa') return tokenOverlapMs;
  return name === 'ca' && holders !== 0 ? nodeOverlapMs : 0;
}

function requestFor(
  { credentials, requests }: RotationInput,
  planned: PlannedAuthority | PlannedKey,
  now: number,
): string | undefined {
  const asked = requests.find(({ what }) => what === planned.name)?.token ?? credentials.asked.get(planned.name);
  if (asked !== undefined || planned.kind === 'key') return asked;
  const end = credentials.observed.get(planned.name)?.notAfter;
  return end !== undefined && now >= end - planned.renewBeforeMs ? `end ${end}` : undefined;
}

async function introduced(
  { clock, credentials }: RotationInput,
  planned: PlannedAuthority | PlannedKey,
  entry: RotationEntry,
  record: RotationEntry['record'],
): Promise<RotationEntry> {
  const { cross } = entry;
  if (planned.kind === 'key') {
    const { publicKey, privateKey } = await createServiceAccountKeyPair(planned.algorithm);
    return { record, next: { certificate: publicKey, privateKey } };
  }
  const { commonName, algorithm, durationMs } = planned;
  const next = await createAuthority({ commonName, clock, algorithm, validityMs: durationMs });
  const current = credentials.authorities.get(planned.name)?.pair;
  const nextCross =
    current?.privateKey === undefined
      ? undefined
      : crossSignAuthority({
          certificate: next.certificate,
          signer: { certificate: current.certificate, privateKey: current.privateKey },
          clock,
        });
  return { record, next, ...(cross !== undefined && { cross }), ...(nextCross !== undefined && { nextCross }) };
}

function switched(
  { credentials, serviceAccountKey, clock }: RotationInput,
  planned: PlannedAuthority | PlannedKey,
  { next, cross, nextCross }: RotationEntry,
  record: RotationEntry['record'],
): RotationEntry {
  const old =
    planned.kind === 'key'
      ? serviceAccountKey?.certificate
      : credentials.authorities.get(planned.name)?.pair.certificate;
  // clients that trust only an older CA need the whole chain of cross certificates
  const living = splitCertificates(`${nextCross ?? ''}${cross ?? ''}`).filter(
    (certificate) => parseCertificate(certificate).notAfter > clock.now(),
  );
  return {
    record,
    ...(next && { next }),
    ...(old !== undefined && { old }),
    ...(living.length > 0 && { cross: living.join('') }),
  };
}
