import type { Secret } from '../../../api/index.ts';
import type { Rotatable, RotationRecord } from '../../../hosting/index.ts';
import { asJson, asTyped, isJsonObject, type JsonValue } from '../../../machinery/index.ts';
import type { CertificateAndKey } from '../../../pki/index.ts';
import { secretText } from '../../shared/index.ts';

// What a plane has begun and not finished. It is written down before anything is done, so that whoever comes after a crash goes
// on where it stopped. It holds keys: hence a Secret.

/** An authority, or the key of service accounts, on its way from one pair to the next. */
export interface RotationEntry {
  readonly record: RotationRecord;
  /** the pair that comes, until it is the one in use; of `sa` the certificate is the public key */
  readonly next?: CertificateAndKey;
  /** what was in use before, while it is still trusted */
  readonly old?: string;
  /** PEM; vouches for the authority in use before those who know only the ones before it */
  readonly cross?: string;
  /** the same for the authority that comes */
  readonly nextCross?: string;
}

export interface BackupState {
  readonly lastMs: number;
  readonly lastName: string;
  /** the schedule counts from here */
  readonly scheduledMs: number;
}

/** Going back to a backup: the programs are stopped, then the keys of etcd replaced. */
export interface RestoreState {
  readonly token: string;
  readonly phase: 'stopping' | 'done';
  readonly backup: string;
}

export interface PlaneState {
  readonly rotations: Readonly<Partial<Record<Rotatable, RotationEntry>>>;
  /** pairs in use, should their Secrets get lost; of `sa` the certificate is the public key */
  readonly kept?: Readonly<Partial<Record<Rotatable, CertificateAndKey>>>;
  readonly backup?: BackupState;
  readonly restore?: RestoreState;
  readonly defragmentedMs?: number;
}

const stateKey = 'state';
export const emptyState: PlaneState = { rotations: {} };

/** Written by nobody but us: what does not look like it counts as nothing. */
export function readState(secret: Secret | undefined): PlaneState {
  const text = secretText(secret, stateKey);
  if (text === undefined) return emptyState;
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) && isJsonObject(value['rotations']) ? asTyped<PlaneState>(value) : emptyState;
  } catch {
    return emptyState;
  }
}

export function stateData(state: PlaneState): Record<string, string> {
  return { [stateKey]: JSON.stringify(asJson(state)) };
}

export function rotationOf(state: PlaneState, what: Rotatable): RotationEntry {
  return state.rotations[what] ?? { record: { phase: 'stable', since: 0 } };
}

export function withRotation(state: PlaneState, what: Rotatable, entry: RotationEntry): PlaneState {
  return { ...state, rotations: { ...state.rotations, [what]: entry } };
}
