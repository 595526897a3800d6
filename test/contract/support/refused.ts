import { expect } from 'vitest';
import { Answer, OpenStackError, type OpenStackErrorKind } from '../../../src/openstack/index.ts';

export interface Refusal {
  status: number;
  kind?: OpenStackErrorKind;
  /** neutron's error type */
  type?: string;
  /** part of the message, or a pattern */
  says?: string | RegExp;
}

/** Expects a call to be refused, and returns the error. */
export async function refused(call: Promise<unknown>, refusal: Refusal): Promise<OpenStackError> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) {
    const { value } = outcome;
    const shown = value instanceof Answer ? Buffer.from(value.body).toString() : JSON.stringify(value);
    throw new Error(`expected HTTP ${refusal.status}, but it was accepted: ${shown}`);
  }
  const { error } = outcome;
  if (!(error instanceof OpenStackError)) throw error;
  const { says, ...exact } = refusal;
  const { kind, status, type } = error;
  expect({ status, ...(exact.kind && { kind }), ...(exact.type && { type }) }, error.message).toEqual(exact);
  if (typeof says === 'string') expect(error.detail).toContain(says);
  else if (says) expect(error.detail).toMatch(says);
  return error;
}

/** A valid id of no resource. */
export const nobody = '11111111-2222-3333-4444-555555555555';
