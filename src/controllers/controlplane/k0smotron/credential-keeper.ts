import type { K0smotronCluster } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { after, done, type ReconcileContext, type Result } from '../../../runtime/index.ts';
import { completeSecrets, expectedSecrets } from './cloud-secrets.ts';

/** Completes the Secrets that charts expect. */
export interface CredentialKeeper {
  /** resolves with the time of the next look */
  look(context: ReconcileContext, plane: K0smotronCluster, client: Client): Promise<Result>;
  forget(plane: K0smotronCluster): void;
}

/**
 * The Secrets are not watched. Users create them soon after the cluster or much later, so the polling interval grows.
 */
const firstLookMs = 5_000;
const rarestLookMs = 5 * 60_000;
const calmMs = 30 * 60_000;
const reason = 'credentials inside the workload cluster';

export function createCredentialKeeper(): CredentialKeeper {
  const looks = new Map<string, { readonly sinceMs: number; nextMs: number }>();
  return {
    async look({ clock, log, signal }, { metadata, spec }, client) {
      const keys = expectedSecrets(spec);
      if (keys.length === 0) return done();
      const now = clock.now();
      const known = looks.get(metadata.uid ?? '') ?? { sinceMs: now, nextMs: now };
      looks.set(metadata.uid ?? '', known);
      if (now < known.nextMs) return after(known.nextMs - now, reason);
      let isComplete = false;
      try {
        isComplete = await completeSecrets(client, keys, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        // the plane itself is healthy
        log.info('Credentials of the workload cluster cannot be looked at', { error });
      }
      const wait = isComplete ? calmMs : Math.min(rarestLookMs, Math.max(firstLookMs, (now - known.sinceMs) / 10));
      known.nextMs = now + wait;
      return after(wait, reason);
    },
    forget({ metadata }) {
      looks.delete(metadata.uid ?? '');
    },
  };
}
