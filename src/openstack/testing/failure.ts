import { OpenStackError } from '../errors/openstack-error.ts';

/** The error a call fails with; a call that succeeds is an error of the test. */
export async function failureOf(call: Promise<unknown>): Promise<OpenStackError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenStackError) return error;
    throw error;
  }
  throw new Error('the call did not fail');
}
