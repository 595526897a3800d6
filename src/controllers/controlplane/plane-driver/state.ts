import type { Secret } from '../../../api/index.ts';
import type { Rotatable, RotationRecord } from '../../../hosting/index.ts';
import { asJson, asTyped, isJsonObject, type JsonValue } from '../../../machinery/index.ts';
import type { CertificateAndKey } from '../../../pki/index.ts';
import { secretText } from '../../shared/index.ts';

// Unfinished work of a plane. It is persisted before each action, so that a restarted process continues where the last
// one stopped. It contains private keys and is therefore a Secret.

/** Rotation of a CA or of the service account key. */
export interface RotationEntry {
  readonly record: RotationRecord;
  /** the next pair, until it becomes current; for `sa`, the certificate is the public key */
  readonly next?: CertificateAndKey;
  /** the previous one while it is still trusted */
  readonly old?: string;
  /** PEM; the current CA signed by earlier ones, for clients that trust only those */
  readonly cross?: string;
  /** same for the next CA */
  readonly nextCross?: string;
}

export interface BackupState {
  readonly lastMs: number;
  readonly lastName: string;
  /** start time of the schedule */
  readonly scheduledMs: number;
}

/** A restore: components are stopped, then the keys of etcd are replaced. */
export interface RestoreState {
  readonly token: string;
  readonly phase: 'stopping' | 'done';
  readonly backup: string;
}

export interface PlaneState {
  readonly rotations: Readonly<Partial<Record<Rotatable, RotationEntry>>>;
  /** copies of current pairs, in case their Secrets are lost; for `sa`, the certificate is the public key */
  readonly kept?: Readonly<Partial<Record<Rotatable, CertificateAndKey>>>;
  readonly backup?: BackupState;
  readonly restore?: RestoreState;
  readonly defragmentedMs?: number;
}

const stateKey = 'state';
export const emptyState: PlaneState = { rotations: {} };

/** Parses the state. Only Capstan writes it, so malformed content counts as empty. */
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
