import { systemClock } from '../../machinery/index.ts';
import { issueCertificate } from '../../pki/index.ts';
import { controllersUser } from '../controller-identity.ts';
import type { ManagementApi } from '../management-api.ts';
import { isWildcard } from '../serving-hosts.ts';
import type { WorkerSettings } from './messages.ts';

const dayMs = 24 * 3_600_000;
const certificateLifeMs = 30 * dayMs;
/** Less than the maximum delay of a timer. */
const leaveAfterMs = 20 * dayMs;

/** Settings that all workers of one `capstan up` share. */
export type WorkerPlace = Omit<
  WorkerSettings,
  'name' | 'identity' | 'server' | 'certificateAuthority' | 'clientCertificate' | 'leaveAfterMs'
>;

/**
 * `run` distinguishes runs of the main process, because workers of an earlier run may still be exiting. Each worker
 * gets its own in-memory certificate with exactly the permissions of the controllers.
 */
export async function workerSettings(
  api: ManagementApi,
  place: WorkerPlace,
  { name, run }: { name: string; run: string },
): Promise<WorkerSettings> {
  const { pki, listener } = api;
  const pair = await issueCertificate({
    authority: pki.authority,
    commonName: controllersUser.name,
    organizations: controllersUser.groups,
    usages: ['client'],
    validityMs: certificateLifeMs,
    clock: systemClock,
  });
  return {
    ...place,
    name,
    identity: `${name}-${run}`,
    server: isWildcard(listener.host) ? `https://127.0.0.1:${listener.port}` : api.url,
    certificateAuthority: pki.authority.certificate,
    clientCertificate: { certificate: pair.certificate, key: pair.privateKey },
    leaveAfterMs,
  };
}
