import { OpenStackError } from '../errors/openstack-error.ts';

/** Returns the error of a failing call. Throws if the call succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<OpenStackError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenStackError) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}
