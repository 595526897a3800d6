import type { Clock } from '../../src/machinery/index.ts';
import { createAuthority, createServiceAccountKeyPair } from '../../src/pki/index.ts';

interface ManagementKeys {
  readonly authority: Awaited<ReturnType<typeof createAuthority>>;
  readonly serviceAccounts: { readonly issuer: string; readonly signingKeyPem: string };
}

let keys: Promise<ManagementKeys> | undefined;

/** The keys of the management API, which no story depends on: all lives that are played in this process share them. */
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
