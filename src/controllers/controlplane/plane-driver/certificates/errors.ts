import { formatKey, type ObjectKey } from '../../../../client/index.ts';
import { CapstanError } from '../../../../machinery/index.ts';

/** A Secret with a credential is missing or cannot be used; the message names it and says what to do. */
export class PlaneCredentialError extends CapstanError {
  constructor(secret: ObjectKey, problem: string, hint: string) {
    super('CAP_PLANE_CREDENTIAL', `Secret ${formatKey(secret)} ${problem}; ${hint}`, { hint });
    this.name = 'PlaneCredentialError';
  }
}

/** Others trust an authority whose key nobody has any more: only people can say how to go on. */
export class AuthorityLostError extends PlaneCredentialError {
  constructor(secret: ObjectKey, cure: string) {
    super(
      secret,
      'with the certificate authority is gone, and there is no copy of it: what runs goes on, but nothing new can be signed, and Pods that start anew wait for it',
      cure,
    );
    this.name = 'AuthorityLostError';
  }
}
