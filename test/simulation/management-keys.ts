import type { Clock } from '../../src/machinery/index.ts';
import { createAuthority, createServiceAccountKeyPair } from '../../src/pki/index.ts';

interface ManagementKeys {
  readonly authority: Awaited<ReturnType<typeof createAuthority>>;
  readonly serviceAccounts: { readonly issuer: string; readonly signingKeyPem: string };
}

let keys: Promise<ManagementKeys> | undefined;

/** Keys of the management API, shared by all simulations in this process because none depends on them. */
export function managementKeys(clock: Clock): Promise<ManagementKeys> {
  keys ??= makeKeys(clock);
  return keys;
}

async function makeKeys(clock: Clock): Promise<ManagementKeys> {
  return {
    authority: await createAuthority({ commonName: 'simulation', clock }),
    serviceAccounts: {
      issuer: 'https://kubernetes.default.svc',
      signingKeyPem: (await createServiceAccountKeyPair()).privateKey,
    },
  };
}
