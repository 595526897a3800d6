import { formatKey, type ObjectKey } from '../../../../client/index.ts';
import { CapstanError } from '../../../../machinery/index.ts';

/** A credential Secret is missing or unusable; the message names it and the remedy. */
export class PlaneCredentialError extends CapstanError {
  constructor(secret: ObjectKey, problem: string, hint: string) {
    super('CAP_PLANE_CREDENTIAL', `Secret ${formatKey(secret)} ${problem}; ${hint}`, { hint });
    this.name = 'PlaneCredentialError';
  }
}

/** The key of a trusted CA is lost; only the user can decide how to continue. */
export class AuthorityLostError extends PlaneCredentialError {
  constructor(secret: ObjectKey, cure: string) {
    super(
      secret,
      'with the certificate authority is gone, and there is no copy of it: running programs continue, but nothing new can be signed, and new Pods wait for it',
      cure,
    );
    this.name = 'AuthorityLostError';
  }
}
