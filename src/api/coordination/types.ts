import type { TypeTable } from '../schema/type-table.ts';

export const coordinationTypes: TypeTable = {
  alias: 'coordination',
  group: 'coordination.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.coordination.v1',
  text: `
Lease kind # Who holds something, and until when.
  spec  2  LeaseSpec  # What is wanted.

LeaseSpec
  holderIdentity        1  *string     # Who holds it.
  leaseDurationSeconds  2  *int32      # How long others must wait after the last renewal.
  acquireTime           3  *MicroTime  # When the holder got it.
  renewTime             4  *MicroTime  # When the holder last renewed it.
  leaseTransitions      5  *int32      # How often the holder changed.
  strategy              6  *string
  preferredHolder       7  *string
`,
};
